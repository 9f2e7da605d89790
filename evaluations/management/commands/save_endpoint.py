"""Add an endpoint, or change one."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.utils.translation import gettext as _

from evaluations.models import Endpoint
from evaluations.runs.services.endpoints import MOST_TOKENS, save_endpoint
from gradeapp.cli import GradeappCommand, whole_number
from gradeapp.common.plain_number import decimal_of
from gradeapp.common.refusals import BadInput

# What of an endpoint that is changed stays as it is if it is not given.
KEPT = (
    *("price_input", "price_output", "currency", "max_in_flight", "timeout_seconds"),
    *("max_tokens", "max_temperature", "takes_images", "max_completion_tokens", "note"),
    *("price_cached", "cost_in_replies", "account", "preset"),
)
MOST_IN_FLIGHT, MOST_SECONDS = 1024, 600


class Command(GradeappCommand):
    help = "Add an endpoint, or change the one of this name; what is not given stays as it is."

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--name", required=True, help="what runs call it")
        parser.add_argument("--base-url", required=True, help="the part before /chat/completions")
        parser.add_argument("--model", required=True, help="as the endpoint calls it")
        parser.add_argument("--language-model", default="", help="its name in reports")
        parser.add_argument("--key-variable", help="the environment variable that holds the key")
        parser.add_argument("--max-in-flight", type=whole_number, metavar="N")
        parser.add_argument("--timeout", type=whole_number, metavar="S", dest="timeout_seconds")
        parser.add_argument("--max-tokens", type=whole_number, metavar="N", help="of one reply")
        parser.add_argument("--price-input", metavar="X", help="per million tokens")
        parser.add_argument("--price-output", metavar="X", help="per million tokens")
        parser.add_argument("--currency", metavar="CODE", help="such as CNY")
        parser.add_argument("--takes-images", action="store_const", const=True)
        parser.add_argument(
            "--cost-in-replies",
            action="store_const",
            const=True,
            help="what replies say that they cost is in this currency, and counts",
        )

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        there = Endpoint.objects.filter(name=options["name"]).first()
        usual = there or Endpoint()
        given = {name: options.get(name) for name in KEPT}
        facts = {
            name: getattr(usual, name) if value is None else value for name, value in given.items()
        }
        for name in ("price_input", "price_output"):
            facts[name] = price(facts[name])
        bounded("--max-in-flight", facts["max_in_flight"], MOST_IN_FLIGHT)
        bounded("--timeout", facts["timeout_seconds"], MOST_SECONDS)
        bounded("--max-tokens", facts["max_tokens"], MOST_TOKENS)
        key, called = options["key_variable"], ""
        if there is not None and there.model == options["model"]:
            called = there.language_model.name
        saved = save_endpoint(
            name=options["name"],
            base_url=options["base_url"],
            model=options["model"],
            language_model=options["language_model"] or called,
            key_variable="" if key is None and there is None else key,
            endpoint=there,
            acting_user=None,
            **facts,
        )
        return {"endpoint": saved.name, "created": there is None}


def bounded(option: str, value: int, most: int) -> None:
    """Raise BadInput if *value* is not from 1 to *most*."""
    if not 1 <= value <= most:
        words = {"option": option, "most": most}
        raise BadInput(_("%(option)s must be a whole number from 1 to %(most)d.") % words)


def price(value: Any) -> Any:
    """Return a price of the command line or of an endpoint as a Decimal. Raises BadInput."""
    read = decimal_of(value) if isinstance(value, str) else value
    if read is None:
        raise BadInput(_("A price must be an amount such as 2.50, not %(text)s.") % {"text": value})
    return read
