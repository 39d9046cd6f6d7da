"""How dates and times are written where a template does not say it: settings.FORMAT_MODULE_PATH."""
