import os

from django.core.wsgi import get_wsgi_application

from gradeapp.request_headers import checked_headers
from gradeapp.start_rules import in_one_sentence

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gradeapp.settings")
with in_one_sentence():
    application = checked_headers(get_wsgi_application())
