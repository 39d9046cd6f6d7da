"""Addresses of the worker site, spelled as MTurk's."""

from django.urls import path, register_converter

from marketplace.ids import EntityConverter
from marketplace.site import accounts, dashboard, frames, hit_list, hits, own_data, qualifications

register_converter(EntityConverter, "entity")

urlpatterns = [
    path("sign-in", accounts.sign_in_page, name="sign-in"),
    path("join", accounts.join, name="join"),
    path("invitations/<slug:token>", accounts.invitation, name="invitation"),
    path("sign-out", accounts.sign_out, name="sign-out"),
    path("my-data", own_data.own_data, name="own-data"),
    path("my-data/download", own_data.download, name="own-data-download"),
    path("my-data/delete", own_data.delete, name="own-data-delete"),
    path("work", dashboard.my_work, name="my-work"),
    path("work/earnings", dashboard.earnings, name="earnings"),
    path("work/given-up", dashboard.given_up, name="given-up"),
    path("work/messages", dashboard.messages, name="messages"),
    path("work/accept-next", hits.accept_next, name="accept-next"),
    path("mturk/preview", hit_list.preview_by_group, name="preview-by-group"),
    path("mturk/externalSubmit", frames.external_submit, name="external-submit"),
    path("projects/<entity:identifier>/tasks", hits.preview, name="preview"),
    path("projects/<entity:identifier>/tasks/accept_random", hits.accept, name="accept"),
    path("projects/<entity:identifier>/tasks/<entity:hit_id>", hits.work, name="work"),
    path("frames/<entity:hit_id>", frames.task_frame, name="task-frame"),
    path("qualifications", qualifications.own_qualifications, name="qualifications"),
    path("qualifications/<entity:type_id>", qualifications.qualification, name="qualification"),
    path(
        "qualifications/<entity:type_id>/test",
        qualifications.qualification_test,
        name="qualification-test",
    ),
    path("assignments/<entity:assignment_id>", hits.after, name="after"),
    path("assignments/<entity:assignment_id>/answers", hits.answer, name="answers"),
    path("assignments/<entity:assignment_id>/return", hits.give_back, name="return"),
    path("assignments/<entity:assignment_id>/more-time", hits.more_time, name="more-time"),
]
