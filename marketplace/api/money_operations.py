"""Operations about money: the balance and bonuses."""

from collections.abc import Callable

from marketplace.api import structures
from marketplace.api.calls import Body, Call, listing
from marketplace.api.errors import bad_value
from marketplace.models import Bonus
from marketplace.money import ledger


def get_account_balance(call: Call) -> Body:
    balance = ledger.balance_of(call.requester)
    return {
        "AvailableBalance": ledger.dollars(balance.available_cents),
        "OnHoldBalance": ledger.dollars(balance.held_cents),
    }


def send_bonus(call: Call) -> Body:
    cents = call.cents("BonusAmount")
    if cents == 0:
        raise bad_value(call.body["BonusAmount"], "BonusAmount")
    ledger.send_bonus(
        call.assignment(),
        worker_id=call.body["WorkerId"],
        cents=cents,
        reason=call.body["Reason"],
        token=call.body.get("UniqueRequestToken"),
        now=call.now,
    )
    return {}


def list_bonus_payments(call: Call) -> Body:
    if not {"HITId", "AssignmentId"} & call.body.keys():
        raise bad_value("", "HITId", why="One of HITId and AssignmentId is needed")
    rows = Bonus.objects.select_related("assignment__worker")
    if "HITId" in call.body:
        rows = rows.filter(assignment__hit=call.hit())
    if "AssignmentId" in call.body:
        rows = rows.filter(assignment=call.assignment())
    scope = f"Bonuses {call.body.get('HITId', '')} {call.body.get('AssignmentId', '')}"
    shown, token = call.page(rows, scope=scope)
    return listing("BonusPayments", [structures.bonus(row) for row in shown], token=token)


OPERATIONS: dict[str, Callable[[Call], Body]] = {
    "GetAccountBalance": get_account_balance,
    "SendBonus": send_bonus,
    "ListBonusPayments": list_bonus_payments,
}
