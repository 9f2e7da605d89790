import os

from django.core.wsgi import get_wsgi_application

from gradeapp.content_types import utf_8_alone

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gradeapp.settings")
application = utf_8_alone(get_wsgi_application())
