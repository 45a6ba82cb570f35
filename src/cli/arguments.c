// SPDX-License-Identifier: Apache-2.0
// Understanding the command line: flags of the command, and options of laws or integrators from their tables. And `--help`, from the same.
#include <stdlib.h>
#include <string.h>

#include "cli/cli_internal.h"

// The command's own flag of this name; NULL when it has none.
static const cli_flag *find_flag(const cli_command *command, const char *name) {
    for (int i = 0; i < command->flag_count; i++)
        if (!strcmp(command->flags[i].name, name)) return &command->flags[i];
    return NULL;
}

// Copies a name with one character in place of another: flags are written --max-steps, options max_steps.
static void respell(const char *name, char from, char to, char spelled[CLI_NAME_SIZE]) {
    size_t i = 0;
    for (; name[i] && i < CLI_NAME_SIZE - 1; i++) spelled[i] = name[i] == from ? to : name[i];
    spelled[i] = '\0';
}

void cli_spell_flag(const carom_option *row, char flag[CLI_NAME_SIZE]) { respell(row->name, '_', '-', flag); }

carom_status cli_pass_on(const carom_option *row, const carom_error *inner, carom_error *error) {
    char flag[CLI_NAME_SIZE];
    cli_spell_flag(row, flag);
    return carom_fail(error, inner->status, "--%s%s", flag, inner->message + strlen(row->name));
}

// -------------------------------------------------------------------------------------------------------------- owners

static int count_integrators(const cli_command *command, const carom_registry *registry) {
    return command->laws == CLI_INTEGRATORS ? carom_registry_count(registry, CAROM_REGISTRY_INTEGRATORS) : 0;
}

int cli_owners(const cli_command *command, const carom_registry *registry) {
    if (command->laws == CLI_NO_LAWS) return 0;
    const bool one_law = command->law || command->own_law;
    return count_integrators(command, registry) + (one_law ? 1 : carom_registry_count(registry, CAROM_REGISTRY_LAWS));
}

cli_owner cli_owner_at(const cli_command *command, const carom_registry *registry, int index) {
    const int integrators = count_integrators(command, registry);
    if (index < integrators) {
        const carom_integrator *one = carom_registry_entry(registry, CAROM_REGISTRY_INTEGRATORS, index);
        return (cli_owner){"integrator", one->name, one->summary, one->options, one->option_count};
    }
    // After the integrators: the command's one law, or all laws of the registry.
    const carom_law *law = command->own_law ? command->own_law
                           : command->law   ? carom_law_find(registry, command->law)
                                            : carom_registry_entry(registry, CAROM_REGISTRY_LAWS, index - integrators);
    return (cli_owner){"law", law->name, law->summary, law->options, law->option_count};
}

// The first option of this name among those of the command's owners. `offered` says whether any owner's option of that name takes the
// value; NULL where there is no value yet.
static const carom_option *find_option(const cli_arguments *arguments, const char *name, const char *value, bool *offered) {
    const carom_option *first = NULL;
    for (int i = 0; i < cli_owners(arguments->command, arguments->registry); i++) {
        const cli_owner owner = cli_owner_at(arguments->command, arguments->registry, i);
        const int index = carom_option_find(owner.options, owner.option_count, name);
        if (index < 0) continue;
        if (!first) first = &owner.options[index];
        if (value) *offered = *offered || carom_option_offers(&owner.options[index], value);
    }
    return first;
}

// ------------------------------------------------------------------------------------------------------------- parsing

// An option that neither the command nor any of its laws has, with the nearest one that they have.
static carom_status refuse_flag(const cli_arguments *arguments, const char *flag, const char *name, carom_error *error) {
    const cli_command *command = arguments->command;
    carom_suggestion suggestion = {.wanted = name};
    char nearest[CLI_NAME_SIZE], phrase[CAROM_SUGGESTION_SIZE] = "";
    for (int i = 0; i < command->flag_count; i++) carom_suggestion_offer(&suggestion, command->flags[i].name);
    if (suggestion.best) snprintf(nearest, sizeof nearest, "%s", suggestion.best);
    for (int i = 0; i < cli_owners(command, arguments->registry); i++) {
        const cli_owner owner = cli_owner_at(command, arguments->registry, i);
        for (int k = 0; k < owner.option_count; k++) {
            char spelled[CLI_NAME_SIZE];
            const char *before = suggestion.best;
            cli_spell_flag(&owner.options[k], spelled);
            carom_suggestion_offer(&suggestion, spelled);
            // The text that was offered goes out of scope.
            if (suggestion.best != before) suggestion.best = strcpy(nearest, spelled);
        }
    }
    if (suggestion.best) snprintf(phrase, sizeof phrase, "; did you mean '--%s'?", nearest);
    return carom_fail(error, CAROM_BAD_INPUT, "%.60s is not an option of `carom %s`%s", flag, command->name, phrase);
}

// Takes the flag at `*index`, with its value: of "--name=value", or the next word, which moves the index on.
static carom_status parse_flag(cli_arguments *arguments, int argc, char **argv, int *index, carom_error *error) {
    const cli_command *command = arguments->command;
    const char *flag = argv[*index], *equals = strchr(flag, '=');
    const bool is_short_output = !strcmp(flag, "-o");
    const size_t length = equals ? (size_t)(equals - flag) : strlen(flag);
    char name[CLI_NAME_SIZE] = "output", option[CLI_NAME_SIZE];
    const bool well_formed = is_short_output || (!strncmp(flag, "--", 2) && length >= 3 && length < CLI_NAME_SIZE);
    if (well_formed && !is_short_output) snprintf(name, sizeof name, "%.*s", (int)length - 2, flag + 2);
    respell(name, '-', '_', option);

    // A flag of the command itself hides an option of a law.
    const cli_flag *own = well_formed ? find_flag(command, name) : NULL;
    const carom_option *row = own || !well_formed ? NULL : find_option(arguments, option, NULL, NULL);
    if (!own && !row) return refuse_flag(arguments, flag, well_formed ? name : "", error);
    cli_setting *setting = &arguments->settings[arguments->count++];
    *setting = (cli_setting){own ? own->name : row->name, NULL};
    if (own && !own->value) return equals ? carom_fail(error, CAROM_BAD_INPUT, "--%s takes no value", name) : CAROM_OK;
    if (equals)
        setting->value = equals + 1;
    else if (row && row->type == CAROM_OPTION_SWITCH)
        // A switch of a law is an option with the value true.
        setting->value = "true";
    else if (*index + 1 < argc)
        setting->value = argv[++*index];
    else
        return carom_fail(error, CAROM_BAD_INPUT, "%s needs a value", flag);

    // A choice that no law of the command offers is refused at once; `compare` passes over choices that some law lacks. An integrator runs
    // alone and refuses itself: `order` means one thing to one of them and another to the next.
    bool offered = own || command->laws == CLI_INTEGRATORS;
    if (!offered) find_option(arguments, option, setting->value, &offered);
    if (offered) return CAROM_OK;
    // Let a law say why, or the row itself which choices there are.
    const carom_law *law = command->law ? carom_law_find(arguments->registry, command->law) : NULL;
    const char *reason = law ? carom_law_refusal(law, row->name, setting->value) : NULL;
    if (reason) return carom_fail(error, CAROM_BAD_INPUT, "--%s: %s", name, reason);
    carom_option probe = *row;
    probe.offset = 0;
    int choice;
    carom_error inner;
    carom_option_set(&probe, &choice, setting->value, &inner);
    return cli_pass_on(row, &inner, error);
}

carom_status cli_parse(const cli_command *command, const carom_registry *registry, int argc, char **argv, cli_arguments *arguments,
                       carom_error *error) {
    // No command line has more settings than words.
    *arguments = (cli_arguments){.command = command, .registry = registry};
    arguments->settings = calloc((size_t)argc + 1, sizeof *arguments->settings);
    if (!arguments->settings) return carom_fail_memory(error, "arguments");
    carom_status status = CAROM_OK;
    for (int i = 0; i < argc && !status; i++) {
        // "-" alone is an operand, as elsewhere.
        if (argv[i][0] == '-' && argv[i][1])
            status = parse_flag(arguments, argc, argv, &i, error);
        else if (command->operand_flag)
            arguments->settings[arguments->count++] = (cli_setting){command->operand_flag, argv[i]};
        else if (arguments->operand)
            status = carom_fail(error, CAROM_BAD_INPUT, "only one %s is expected, and '%.60s' is a second one", command->operand, argv[i]);
        else
            arguments->operand = argv[i];
    }
    const bool optional = command->operand_flag || (command->optional_switch && cli_given(arguments, command->optional_switch));
    if (!status && !arguments->operand && !optional)
        status =
            carom_fail(error, CAROM_BAD_INPUT, "%s is missing: carom %s %s [options]", command->operand, command->name, command->operand);
    if (status) cli_release(arguments);
    return status;
}

void cli_release(cli_arguments *arguments) {
    free(arguments->settings);
    *arguments = (cli_arguments){0};
}

const char *cli_value(const cli_arguments *arguments, const char *name) {
    for (int i = arguments->count - 1; i >= 0; i--)
        if (!strcmp(arguments->settings[i].name, name)) return arguments->settings[i].value ? arguments->settings[i].value : "";
    return NULL;
}

bool cli_given(const cli_arguments *arguments, const char *name) { return cli_value(arguments, name) != NULL; }

// ------------------------------------------------------------------------------------------------------------- options

carom_status cli_select(const cli_arguments *arguments, const cli_owner *owner, bool owned, cli_arguments *selected, carom_error *error) {
    *selected = *arguments;
    selected->count = 0;
    selected->settings = malloc(((size_t)arguments->count + 1) * sizeof *selected->settings);
    if (!selected->settings) return carom_fail_memory(error, "arguments");
    for (int i = 0; i < arguments->count; i++) {
        const cli_setting *setting = &arguments->settings[i];
        // Order stays: of a setting that is given twice the last one wins.
        if ((carom_option_find(owner->options, owner->option_count, setting->name) >= 0) == owned)
            selected->settings[selected->count++] = *setting;
    }
    return CAROM_OK;
}

const cli_setting *cli_not_offered(const cli_arguments *arguments, const carom_option *rows, int count) {
    for (int i = 0; i < arguments->count; i++) {
        const cli_setting *setting = &arguments->settings[i];
        const int index = find_flag(arguments->command, setting->name) ? -1 : carom_option_find(rows, count, setting->name);
        if (index >= 0 && !carom_option_offers(&rows[index], setting->value)) return setting;
    }
    return NULL;
}

carom_status cli_apply_owner(const cli_arguments *arguments, const cli_owner *owner, bool strict, void *options, carom_error *error) {
    for (int i = 0; i < arguments->count; i++) {
        const cli_setting *setting = &arguments->settings[i];
        // The command reads its own flags itself.
        if (find_flag(arguments->command, setting->name)) continue;
        const int index = carom_option_find(owner->options, owner->option_count, setting->name);
        if (!strict && (index < 0 || !carom_option_offers(&owner->options[index], setting->value))) continue;
        if (index < 0) {
            char flag[CLI_NAME_SIZE];
            respell(setting->name, '_', '-', flag);
            return carom_fail(error, CAROM_BAD_INPUT, "--%s is not an option of %s %s", flag, owner->kind, owner->name);
        }
        carom_error inner;
        if (carom_option_set(&owner->options[index], options, setting->value, &inner))
            return cli_pass_on(&owner->options[index], &inner, error);
    }
    return CAROM_OK;
}

carom_status cli_apply_rows(const cli_arguments *arguments, const carom_option *rows, int count, void *options, carom_error *error) {
    for (int i = 0; i < count; i++) {
        char flag[CLI_NAME_SIZE];
        cli_spell_flag(&rows[i], flag);
        const char *value = cli_value(arguments, flag);
        carom_error inner;
        if (value && carom_option_set(&rows[i], options, value, &inner)) return cli_pass_on(&rows[i], &inner, error);
    }
    return CAROM_OK;
}

// ---------------------------------------------------------------------------------------------------------------- help

const char *cli_value_word(const carom_option *row, char *word, size_t size) {
    switch (row->type) {
    case CAROM_OPTION_INTEGER: return "N";
    case CAROM_OPTION_REAL: return "X";
    case CAROM_OPTION_INTERVAL: return "X|LO:HI";
    case CAROM_OPTION_CONTACTS: return "A,B,...";
    case CAROM_OPTION_TEXT: return "NAME";
    case CAROM_OPTION_SWITCH: return NULL;
    case CAROM_OPTION_CHOICE: break;
    }
    // Choices, with | between them.
    word[0] = '\0';
    for (int i = 0; row->choices[i]; i++) {
        const size_t used = strlen(word);
        snprintf(word + used, size - used, "%s%s", i ? "|" : "", row->choices[i]);
    }
    return word;
}

// Does the command's own flag of that name hide the option?
static bool is_hidden(const cli_command *command, const carom_option *row) {
    char flag[CLI_NAME_SIZE];
    cli_spell_flag(row, flag);
    return find_flag(command, flag) != NULL;
}

// Has the last earlier law or integrator of this command with an option of that name the same one: its meaning, default and choices?
static bool stands_above(const cli_command *command, const carom_registry *registry, int before, const carom_option *row) {
    int i = before, index = -1;
    cli_owner owner = {0};
    while (index < 0 && i-- > 0) {
        owner = cli_owner_at(command, registry, i);
        index = carom_option_find(owner.options, owner.option_count, row->name);
    }
    if (index < 0) return false;
    const carom_option *above = &owner.options[index];
    bool same = !strcmp(above->doc, row->doc) && !strcmp(above->initial, row->initial) && above->type == row->type;
    for (int k = 0; same && row->type == CAROM_OPTION_CHOICE; k++) {
        const char *choice = row->choices[k], *other = above->choices[k];
        if (!choice && !other) break;
        same = choice && other && !strcmp(choice, other);
    }
    return same;
}

void cli_help(const cli_command *command, const carom_registry *registry) {
    const bool several = command->operand_flag != NULL;
    printf("usage: carom %s %s%s%s%s\n\n%s\n", command->name, several ? "[" : "", command->operand, several ? " ...]" : "",
           command->flag_count ? " [options]" : "", command->summary);
    if (command->models)
        printf(
            "\nSCENE is a YAML or JSON file; or a bare MJCF or URDF model, whose state and contacts are then found, and said on stderr.\n");
    if (command->flag_count) printf("\noptions:\n");
    for (int i = 0; i < command->flag_count; i++) {
        const cli_flag *flag = &command->flags[i];
        char left[2 * CLI_NAME_SIZE];
        const bool is_output = !strcmp(flag->name, "output");
        snprintf(left, sizeof left, "%s%s%s%s", is_output ? "-o" : "--", is_output ? "" : flag->name, flag->value ? " " : "",
                 flag->value ? flag->value : "");
        printf("  %-28s  %s\n", left, flag->doc);
    }
    if (command->laws == CLI_NO_LAWS) return;

    // Options that scenes take, too: under which key.
    const int integrators = count_integrators(command, registry);
    const char *key = integrators ? "simulate" : command->own_law ? command->own_law->name : "impact";
    const bool scene = !strcmp(command->operand, "SCENE");
    if (scene)
        printf("\nEvery option of %s may also stand under `%s:` in the scene; the command line wins.\n",
               integrators ? "an integrator" : "a law", key);
    if (integrators) printf("Options of the law of its impacts may stand under `impact:`; `carom resolve --help` lists them.\n");
    for (int i = 0; i < (integrators ? integrators : cli_owners(command, registry)); i++) {
        const cli_owner owner = cli_owner_at(command, registry, i);
        printf("\n%s %s: %s\n", owner.kind, owner.name, owner.summary);
        // First the options that are new, in full, then the names of those that an earlier law explains.
        for (int k = 0; k < owner.option_count; k++) {
            const carom_option *row = &owner.options[k];
            if (is_hidden(command, row) || stands_above(command, registry, i, row)) continue;
            char flag[CLI_NAME_SIZE], choices[128], left[2 * CLI_NAME_SIZE + 128];
            const char *value = cli_value_word(row, choices, sizeof choices);
            cli_spell_flag(row, flag);
            snprintf(left, sizeof left, "--%s%s%s", flag, value ? " " : "", value ? value : "");
            printf("  %-28s  %s%s%s%s (default %s)\n", left, row->doc, *row->unit ? " [" : "", row->unit, *row->unit ? "]" : "",
                   row->initial);
        }
        const char *separator = "  as above: --";
        for (int k = 0; k < owner.option_count; k++) {
            if (is_hidden(command, &owner.options[k]) || !stands_above(command, registry, i, &owner.options[k])) continue;
            char flag[CLI_NAME_SIZE];
            cli_spell_flag(&owner.options[k], flag);
            printf("%s%s", separator, flag);
            separator = ", --";
        }
        if (*separator == ',') putchar('\n');
    }
}
