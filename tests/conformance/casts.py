"""Who plays whom in a scenario, and which language has to leave it out."""
# What a scenario may need, and a language has not. Its plays are left out, and are a dash in the table.
CANNOT = {
    "cxx": {"negative_timeout"},
    "go": {"fork", "queue", "negative_timeout", "exit_handlers", "extend_of_a_member"},
    "java": {"fork", "queue", "negative_timeout", "text_of_not_acquired", "extend_of_a_member"},
    "lua5.4": {"threads"},
    "luajit": {"threads"},
}


def can_play(language, scenario):
    return not set(scenario.get("needs", [])) & CANNOT.get(language, set())


def actors_of(scenario):
    names = []
    for step in scenario["steps"]:
        if "at" in step and step["at"] not in names:
            names.append(step["at"])
    return names


def alone(scenario, command):
    """All actors are in one language: {actor: command}."""
    return {name: command for name in actors_of(scenario)}


def in_turn(scenario, languages, shift):
    """Each actor is in the next language, of those that can play it."""
    able = [command for language, command in languages.items() if can_play(language, scenario)]
    shift += sum(scenario["name"].encode())
    return {name: able[(shift + number) % len(able)]
            for number, name in enumerate(actors_of(scenario))}


def casts(scenario, languages, is_mixed):
    """(label, {actor: command}) of all plays of a scenario."""
    names = actors_of(scenario)
    languages = {language: command for language, command in languages.items()
                 if can_play(language, scenario)}
    for language, command in languages.items():
        yield language, alone(scenario, command)
    if is_mixed and len(languages) > 1 and len(names) > 1:
        yield "mixed", in_turn(scenario, languages, 0)
