"""Items and pictures in: a pure reading step makes a plan, one transaction writes all of it or nothing."""

from surveys.importing.archive import ZipPictures
from surveys.importing.fetching import FetchedPictures, fetch_pictures
from surveys.importing.images import CheckedPicture, PictureError, check_picture
from surveys.importing.opening import open_pictures
from surveys.importing.plan import Layout, Plan, PlannedItem, Problem, Severity
from surveys.importing.reading import read_items
from surveys.importing.sources import FolderPictures, Pictures, check_pictures, missing_names
from surveys.importing.writing import Attached, ImportRefused, attach_pictures, taken_ids, write_items

__all__ = [
    "Attached",
    "CheckedPicture",
    "FetchedPictures",
    "FolderPictures",
    "ImportRefused",
    "Layout",
    "PictureError",
    "Pictures",
    "Plan",
    "PlannedItem",
    "Problem",
    "Severity",
    "ZipPictures",
    "attach_pictures",
    "check_picture",
    "check_pictures",
    "fetch_pictures",
    "missing_names",
    "open_pictures",
    "read_items",
    "taken_ids",
    "write_items",
]
