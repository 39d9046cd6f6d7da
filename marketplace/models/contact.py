"""What passes between a requester and a worker besides HITs."""

from django.db import models

from marketplace.models.accounts import Requester, Worker


class Block(models.Model):
    """A worker who may accept no HIT of the requester."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="blocks")
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="blocks")
    reason = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["requester", "worker"], name="marketplace_block_once"),
        ]

    def __str__(self) -> str:
        return f"{self.requester} / {self.worker}"


class Message(models.Model):
    """Text a requester sent; the worker reads it under My work."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="messages")
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="messages")
    subject = models.CharField(max_length=255)
    text = models.TextField()
    sent_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["worker", "id"])]

    def __str__(self) -> str:
        return self.subject
