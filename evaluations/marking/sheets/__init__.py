"""Sheets: responses marked on paper or in a spreadsheet.

A teacher takes responses away on a marking sheet (CSV, XLSX or print) and brings marks back; every
row is checked as at the desk and saved once only.

Tables: MarkingSheet.
Other features may call: nothing yet.
"""
