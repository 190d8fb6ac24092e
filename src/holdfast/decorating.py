"""What decorators must know of a function: the key for a call of it, and whether it is one to await."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from holdfast.errors import ConfigError

Fill: TypeAlias = Callable[[tuple[Any, ...], Mapping[str, Any]], str]
"""The key for a call with these arguments."""


def filling(template: str, func: Callable[..., Any]) -> Fill:
    """How to fill `{name}` in a key from the arguments of a call; a `ConfigError` if the function has no such name."""
    import inspect
    from string import Formatter

    signature = inspect.signature(func)
    try:
        fields = {field for _, field, _, _ in Formatter().parse(template) if field is not None}
    except ValueError as error:
        raise ConfigError(f"the key {template!r} is no template ({error}): write {{{{ for a brace") from None
    unknown = {field.partition(".")[0].partition("[")[0] for field in fields} - set(signature.parameters)
    if unknown:
        raise ConfigError(
            f"the key {template!r} names {', '.join(sorted(unknown)) or 'nothing'}, "
            f"which {named(func)} does not take: use the names of its parameters"
        )

    def fill(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return template.format(**bound.arguments)

    return fill


def named(func: Callable[..., Any]) -> str:
    """How a message calls it; objects that can be called need have no name."""
    return f"{getattr(func, '__qualname__', None) or type(func).__qualname__}()"


def refuse_generator(func: Callable[..., Any]) -> None:
    """A `ConfigError` for a function whose call returns before anything of it has run."""
    import inspect

    inner = inspect.unwrap(func)
    if inspect.isgeneratorfunction(inner) or inspect.isasyncgenfunction(inner):
        raise ConfigError(
            f"{named(inner)} is a generator function, and its body would run when the lock is given back: "
            "hold the lock inside of it"
        )


def is_async(func: Callable[..., Any]) -> bool:
    """Whether calling it gives something to await."""
    import inspect

    return inspect.iscoroutinefunction(inspect.unwrap(func)) or inspect.iscoroutinefunction(
        getattr(func, "__call__", None)  # noqa: B004 (an object whose call is a coroutine function)
    )
