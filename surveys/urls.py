"""Addresses of the app: HITs for annotators, pages for researchers."""

from django.urls import URLPattern, URLResolver, path

from surveys.views import batches, downloads, imports, link_work, links, people, pictures, review, worker

urlpatterns: list[URLPattern | URLResolver] = [
    path("batches/<int:pk>/", batches.batch, name="batch"),
    path("batches/<int:pk>/progress", batches.progress, name="batch_progress"),
    path("batches/<int:pk>/publish", batches.publish, name="batch_publish"),
    path("batches/<int:pk>/stop", batches.stop, name="batch_stop"),
    path("batches/<int:pk>/retry", batches.retry, name="batch_retry"),
    path("batches/<int:pk>/sync", batches.sync, name="batch_sync"),
    path("batches/<int:pk>/downloads/<slug:layout>", downloads.download, name="batch_download"),
    path("batches/<int:pk>/assignments/", review.assignments, name="assignments"),
    path("batches/<int:pk>/assignments/decide", review.decide_many, name="decide_many"),
    path("batches/<int:pk>/assignments/<int:assignment_pk>/", review.assignment, name="assignment"),
    path("batches/<int:pk>/assignments/<int:assignment_pk>/decide", review.decide, name="decide"),
    path("batches/<int:pk>/people/", people.people, name="people"),
    path("batches/<int:pk>/people/invite", people.invite_people, name="invite_people"),
    path("batches/<int:pk>/people/links.csv", people.links_csv, name="links_csv"),
    path("batches/<int:pk>/people/panel", people.save_panel, name="save_panel"),
    path("batches/<int:pk>/people/<int:invitation_pk>/renew", people.renew_link, name="renew_link"),
    path("batches/<int:pk>/people/<int:invitation_pk>/revoke", people.revoke_link, name="revoke_link"),
    path("hits/<uuid:pk>/", worker.hit, name="hit"),
    path("hits/<uuid:pk>/draft", worker.draft, name="draft"),
    path("import/", imports.import_items, name="import_items"),
    path("import/pictures", imports.import_pictures, name="import_pictures"),
    path("import/<str:token>/", imports.import_preview, name="import_preview"),
    path("links/sign-in/<int:batch>/", links.sign_in, name="link_sign_in"),
    path("links/<str:token>/", links.home, name="link"),
    path("links/<str:token>/end", links.finish, name="link_finish"),
    path("links/<str:token>/<int:number>/", link_work.work, name="link_work"),
    path("links/<str:token>/<int:number>/draft", link_work.draft, name="link_draft"),
    path("panel/<slug:code>/", links.panel, name="panel"),
    path("pictures/<slug:code>", pictures.picture, name="picture"),
]
