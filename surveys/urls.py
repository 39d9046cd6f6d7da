"""Addresses of the app: HITs for annotators, pages for researchers."""

from django.urls import URLPattern, URLResolver, path

from surveys.pages.answering import hit, link_annotation, link_home, own_data, pictures
from surveys.pages.people import people, workers
from surveys.pages.publishing import batches, books, running
from surveys.pages.results import compare, downloads, dry_run, results_page
from surveys.pages.review import appeals, assignments, bonus, decisions, open_appeals, trail
from surveys.pages.sign_in import oidc, second_factor
from surveys.pages.study import import_columns, imports, protocols, samples, studies

urlpatterns: list[URLPattern | URLResolver] = [
    path("appeals/", appeals.enter, name="appeals"),
    path("appeals/open/", open_appeals.open_appeals, name="open_appeals"),
    path("appeals/<int:appeal_pk>/answer", open_appeals.answer_appeal, name="answer_appeal"),
    path("appeals/<str:code>/", appeals.appeal, name="appeal"),
    path("batches/<int:pk>/", batches.batch, name="batch"),
    path("batches/<int:pk>/progress", batches.progress, name="batch_progress"),
    path("batches/<int:pk>/results/", results_page.batch_results, name="batch_results"),
    path("batches/<int:pk>/results/progress", results_page.results_progress, name="batch_results_progress"),
    path("batches/<int:pk>/files/", downloads.files, name="batch_files"),
    path("batches/<int:pk>/publish", running.publish, name="batch_publish"),
    path("batches/<int:pk>/stop", running.stop, name="batch_stop"),
    path("batches/<int:pk>/retry", running.retry, name="batch_retry"),
    path("batches/<int:pk>/budget", running.set_budget, name="batch_budget"),
    path("batches/<int:pk>/sync", batches.sync_now, name="batch_sync"),
    path("batches/<int:pk>/downloads/<slug:layout>", downloads.download, name="batch_download"),
    path(
        "batches/<int:pk>/downloads/<slug:layout>/ids", downloads.download_with_ids, name="batch_download_ids"
    ),
    path("batches/<int:pk>/assignments/", assignments.assignments, name="assignments"),
    path("batches/<int:pk>/assignments/decide", assignments.decide_many, name="decide_many"),
    path("batches/<int:pk>/assignments/<int:assignment_pk>/", decisions.assignment, name="assignment"),
    path("batches/<int:pk>/assignments/<int:assignment_pk>/decide", decisions.decide, name="decide"),
    path("batches/<int:pk>/assignments/<int:assignment_pk>/use", decisions.use, name="use"),
    path("batches/<int:pk>/audit/", trail.batch_trail, name="batch_trail"),
    path("batches/<int:pk>/audit/trail.csv", trail.batch_trail_csv, name="batch_trail_csv"),
    path("batches/<int:pk>/assignments/<int:assignment_pk>/bonus", bonus.give_bonus, name="give_bonus"),
    path("batches/<int:pk>/policy/", dry_run.policy, name="batch_policy"),
    path("batches/<int:pk>/people/", people.people, name="people"),
    path("batches/<int:pk>/people/invite", people.invite_people, name="invite_people"),
    path("batches/<int:pk>/people/links.csv", people.links_csv, name="links_csv"),
    path("batches/<int:pk>/people/panel", people.save_panel, name="save_panel"),
    path("batches/<int:pk>/people/<int:invitation_pk>/renew", people.renew_link, name="renew_link"),
    path("batches/<int:pk>/people/<int:invitation_pk>/revoke", people.revoke_link, name="revoke_link"),
    path("books/", books.books, name="books"),
    path("books/settle", books.settle_books, name="settle_books"),
    path("compare/", compare.compare, name="compare"),
    path("compare/progress", compare.compare_progress, name="compare_progress"),
    path("hits/<uuid:pk>/", hit.hit, name="hit"),
    path("hits/<uuid:pk>/draft", hit.draft, name="draft"),
    path("import/", imports.import_items, name="import_items"),
    path("import/pictures", imports.import_pictures, name="import_pictures"),
    path("import/<str:token>/", imports.import_preview, name="import_preview"),
    path("import/<str:token>/columns", imports.import_columns, name="import_columns"),
    path("links/sign-in/<int:batch>/", link_home.sign_in, name="link_sign_in"),
    path("links/<str:token>/", link_home.home, name="link"),
    path("links/<str:token>/my-data", own_data.own_data, name="own_data"),
    path("links/<str:token>/my-data/download", own_data.download, name="own_data_download"),
    path("links/<str:token>/my-data/delete", own_data.delete, name="own_data_delete"),
    path("links/<str:token>/end", link_home.finish, name="link_finish"),
    path("links/<str:token>/<int:number>/", link_annotation.work, name="link_work"),
    path("links/<str:token>/<int:number>/draft", link_annotation.draft, name="link_draft"),
    path("panel/<slug:code>/", link_home.panel, name="panel"),
    path("pictures/<slug:code>", pictures.picture, name="picture"),
    path("survey-types/", protocols.survey_types, name="survey_types"),
    path("survey-types/write", protocols.write_survey_type, name="write_survey_type"),
    path("survey-types/<slug:key>-items.csv", import_columns.import_template, name="import_template"),
    path("survey-types/<slug:key>.yaml", protocols.survey_type_file, name="survey_type_file"),
    path("sign-in/university/", oidc.there, name="oidc_there"),
    path("sign-in/university/back", oidc.back, name="oidc_authentication_callback"),
    path("sign-in/code/", second_factor.give_code, name="second_factor_code"),
    path("sign-in/leave", second_factor.leave, name="leave_sign_in"),
    path("sign-in/second-factor/", second_factor.second_factor, name="second_factor"),
    path("samples/", samples.draw_sample, name="draw_sample"),
    path("samples/<str:token>/", samples.sample, name="sample"),
    path("samples/<str:token>/progress/", samples.sample_progress, name="sample_progress"),
    path("samples/<str:token>/<str:filename>", samples.sample_file, name="sample_file"),
    path("studies/<slug:slug>/", studies.study, name="study"),
    path("studies/<slug:slug>/items/", studies.items, name="study_items"),
    path("workers/<int:worker_pk>/", workers.worker, name="worker"),
    path("workers/<int:worker_pk>/standing", workers.standing, name="worker_standing"),
]
