"""The tag for tables of reports that a process keeps as HTML."""

from __future__ import annotations

from django import template
from django.template.base import NodeList, Parser, Token
from django.template.context import Context
from django.utils.safestring import SafeString

from evaluations.reports.selectors.kept_reports import kept_value

register = template.Library()


@register.tag("kept")
def kept_tag(parser: Parser, token: Token) -> KeptNode:
    """Parse ``{% kept name %} ... {% endkept %}``: HTML that is rendered once for ``kept_key``.

    The key is a name in the context for all that the HTML depends on, the language included;
    without one it is rendered each time. What depends on the person must stand outside.
    """
    _tag, name = token.split_contents()
    nodes = parser.parse(("endkept",))
    parser.delete_first_token()
    return KeptNode(name, nodes)


class KeptNode(template.Node):
    """Renders *nodes*, or returns what they were before."""

    def __init__(self, name: str, nodes: NodeList) -> None:
        self.name = name
        self.nodelist = nodes

    def render(self, context: Context) -> SafeString:
        """Return the HTML."""
        if (key := context.get("kept_key")) is None:
            return self.nodelist.render(context)
        return kept_value(
            ("html", self.name, key), lambda: self.nodelist.render(context), SafeString.__sizeof__
        )
