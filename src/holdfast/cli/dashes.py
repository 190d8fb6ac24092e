"""A subcommand that ends with `-- CMD...`: all behind the dashes is another command's."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from holdfast.cli.usage import Subcommand


class BehindDashes(Subcommand):
    """Splits its arguments at `--` before click sees them, so that CMD's options are never taken for ours."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        before, dashes, after = _split(args)
        ctx.meta["command"] = after if dashes else None
        if not dashes and not ctx.resilient_parsing and not {"-h", "--help"} & set(args):
            known = super().parse_args
            try:
                known(ctx, list(before[:]))
            except click.NoSuchOption as error:
                if error.possibilities:
                    raise
                theirs = f"no such option {error.option_name!r} (if it is the command's, write -- before the command)"
                raise click.UsageError(theirs, ctx) from None
            except (click.BadParameter, click.BadOptionUsage):
                raise
            except click.UsageError:
                pass
            raise click.UsageError("write -- between the options and the command: holdfast run KEY -- CMD", ctx)
        return super().parse_args(ctx, before)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        if ctx.meta["command"] is not None:
            return [CompletionItem(incomplete, type="file")]  # of the command, whose options the shell may know of
        return super().shell_complete(ctx, incomplete)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return ["[OPTIONS]", "KEY", "--", "CMD..."]


def _split(args: list[str]) -> tuple[list[str], bool, list[str]]:
    if "--" not in args:
        return args, False, []
    at = args.index("--")
    return args[:at], True, args[at + 1 :]
