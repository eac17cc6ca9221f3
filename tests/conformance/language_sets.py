"""The languages of a scenario's drivers, and the scenarios that a language cannot run."""
# What a scenario may need and a language lacks. Such a run is omitted, and is a dash in the table.
CANNOT = {
    "cxx": {"negative_timeout"},
    "go": {"fork", "queue", "negative_timeout", "exit_handlers", "extend_of_a_member",
           "upgrade_of_a_member", "listing_timeout", "blocking_calls"},
    "java": {"fork", "queue", "negative_timeout", "text_of_not_acquired", "extend_of_a_member",
             "upgrade_of_a_member"},
    "lua5.4": {"threads"},
    "luajit": {"threads"},
    "python": {"queue", "text_of_not_acquired", "upgrade_of_a_member"},
}


def can_run(language, scenario):
    return not set(scenario.get("needs", [])) & CANNOT.get(language, set())


def drivers_of(scenario):
    names = []
    for step in scenario["steps"]:
        if "at" in step and step["at"] not in names:
            names.append(step["at"])
    return names


def alone(scenario, command):
    """All drivers are in one language: {driver: command}."""
    return {name: command for name in drivers_of(scenario)}


def in_turn(scenario, languages, shift):
    """Each driver is in the next language that can run the scenario."""
    able = [command for language, command in languages.items() if can_run(language, scenario)]
    shift += sum(scenario["name"].encode())
    return {name: able[(shift + number) % len(able)]
            for number, name in enumerate(drivers_of(scenario))}


def language_sets(scenario, languages, is_mixed):
    """(label, {driver: command}) of all runs of a scenario."""
    names = drivers_of(scenario)
    languages = {language: command for language, command in languages.items()
                 if can_run(language, scenario)}
    for language, command in languages.items():
        yield language, alone(scenario, command)
    if is_mixed and len(languages) > 1 and len(names) > 1:
        yield "mixed", in_turn(scenario, languages, 0)
