import os

from django.core.wsgi import get_wsgi_application

from gradeapp.request_headers import checked_headers

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gradeapp.settings")
application = checked_headers(get_wsgi_application())
