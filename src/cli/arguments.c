// SPDX-License-Identifier: Apache-2.0
// Understanding the command line: flags of the command, and options of laws or integrators from their tables.
#include <stdlib.h>
#include <string.h>

#include "cli/cli_internal.h"

enum { NAME_SIZE = CLI_NAME_SIZE };

static const cli_flag *find_flag(const cli_command *command, const char *name) {
    for (int i = 0; i < command->flag_count; i++)
        if (!strcmp(command->flags[i].name, name)) return &command->flags[i];
    return NULL;
}

// Copies a name with one character in place of another: flags are written --max-steps, options max_steps.
static void respell(const char *name, char from, char to, char spelled[NAME_SIZE]) {
    size_t i = 0;
    for (; name[i] && i < NAME_SIZE - 1; i++) spelled[i] = name[i] == from ? to : name[i];
    spelled[i] = '\0';
}

static cli_owner law_owner(const carom_law *law) { return (cli_owner){"law", law->name, law->summary, law->options, law->option_count}; }

static cli_owner integrator_owner(const carom_integrator *one) {
    return (cli_owner){"integrator", one->name, one->summary, one->options, one->option_count};
}

static int count_integrators(const cli_command *command, const carom_registry *registry) {
    return command->laws == CLI_INTEGRATORS ? carom_registry_count(registry, CAROM_REGISTRY_INTEGRATORS) : 0;
}

int cli_owners(const cli_command *command, const carom_registry *registry) {
    if (command->laws == CLI_NO_LAWS) return 0;
    return count_integrators(command, registry) +
           (command->law || command->own_law ? 1 : carom_registry_count(registry, CAROM_REGISTRY_LAWS));
}

cli_owner cli_owner_at(const cli_command *command, const carom_registry *registry, int index) {
    const int integrators = count_integrators(command, registry);
    if (index < integrators) return integrator_owner(carom_registry_entry(registry, CAROM_REGISTRY_INTEGRATORS, index));
    index -= integrators;
    if (command->own_law) return law_owner(command->own_law);
    return law_owner(command->law ? carom_law_find(registry, command->law) : carom_registry_entry(registry, CAROM_REGISTRY_LAWS, index));
}

// The row of an option among those that the command takes.
static const carom_option *find_option(const cli_command *command, const carom_registry *registry, const char *name) {
    for (int i = 0; i < cli_owners(command, registry); i++) {
        const cli_owner owner = cli_owner_at(command, registry, i);
        const int row = carom_option_find(owner.options, owner.option_count, name);
        if (row >= 0) return &owner.options[row];
    }
    return NULL;
}

carom_status cli_pass_on(const carom_option *row, const carom_error *inner, carom_error *error) {
    char flag[NAME_SIZE];
    respell(row->name, '_', '-', flag);
    return carom_fail(error, inner->status, "--%s%s", flag, inner->message + strlen(row->name));
}

// A choice that none of the command's laws offers is refused at once: `compare` passes over those that one law lacks. An integrator runs
// alone, and says itself what it offers: `order` of one is not that of another.
static carom_status check_choice(const cli_command *command, const carom_registry *registry, const carom_option *row, const char *value,
                                 carom_error *error) {
    if (command->laws == CLI_INTEGRATORS) return CAROM_OK;
    for (int i = 0; i < cli_owners(command, registry); i++) {
        const cli_owner owner = cli_owner_at(command, registry, i);
        const int index = carom_option_find(owner.options, owner.option_count, row->name);
        if (index >= 0 && carom_option_offers(&owner.options[index], value)) return CAROM_OK;
    }
    carom_option probe = *row;
    probe.offset = 0;
    int choice;
    carom_error inner;
    carom_option_set(&probe, &choice, value, &inner);
    return cli_pass_on(row, &inner, error);
}

// Splits "--name=value" or takes the next argument as the value.
static carom_status take_value(int argc, char **argv, int *index, const char *inline_value, const char *flag, const char **value,
                               carom_error *error) {
    if (!inline_value && *index + 1 >= argc) return carom_fail(error, CAROM_BAD_INPUT, "%s needs a value", flag);
    *value = inline_value ? inline_value : argv[++*index];
    return CAROM_OK;
}

static carom_status parse_flag(cli_arguments *arguments, int argc, char **argv, int *index, carom_error *error) {
    const char *flag = argv[*index];
    char name[NAME_SIZE], option[NAME_SIZE];
    const char *equals = strchr(flag, '=');
    const bool is_short_output = !strcmp(flag, "-o");
    const size_t length = equals ? (size_t)(equals - flag) : strlen(flag);
    if (!is_short_output && (strncmp(flag, "--", 2) || length < 3 || length >= NAME_SIZE))
        return carom_fail(error, CAROM_BAD_INPUT, "%.60s is not an option of `carom %s`", flag, arguments->command->name);
    snprintf(name, sizeof name, "%.*s", is_short_output ? 6 : (int)length - 2, is_short_output ? "output" : flag + 2);
    respell(name, '-', '_', option);
    const cli_flag *own = find_flag(arguments->command, name);
    const carom_option *row = own ? NULL : find_option(arguments->command, arguments->registry, option);
    if (!own && !row) return carom_fail(error, CAROM_BAD_INPUT, "%.60s is not an option of `carom %s`", flag, arguments->command->name);
    cli_setting *setting = &arguments->settings[arguments->count++];
    *setting = (cli_setting){own ? own->name : row->name, NULL};
    carom_status status = CAROM_OK;
    const char *inline_value = equals ? equals + 1 : row && row->type == CAROM_OPTION_SWITCH ? "true" : NULL;
    if (row || own->value) status = take_value(argc, argv, index, inline_value, flag, &setting->value, error);
    if (!status && row) status = check_choice(arguments->command, arguments->registry, row, setting->value, error);
    if (status || row || own->value) return status;
    return equals ? carom_fail(error, CAROM_BAD_INPUT, "--%s takes no value", name) : CAROM_OK;
}

static carom_status check_operand(const cli_arguments *arguments, carom_error *error) {
    const cli_command *command = arguments->command;
    if (arguments->operand || command->operand_flag || (command->optional_switch && cli_given(arguments, command->optional_switch)))
        return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "%s is missing: carom %s %s [options]", command->operand, command->name, command->operand);
}

carom_status cli_parse(const cli_command *command, const carom_registry *registry, int argc, char **argv, cli_arguments *arguments,
                       carom_error *error) {
    *arguments = (cli_arguments){.command = command, .registry = registry};
    arguments->settings = calloc((size_t)argc + 1, sizeof *arguments->settings);
    if (!arguments->settings) return carom_fail_memory(error, "arguments");
    carom_status status = CAROM_OK;
    for (int i = 0; i < argc && !status; i++) {
        if (argv[i][0] == '-' && argv[i][1])
            status = parse_flag(arguments, argc, argv, &i, error);
        else if (command->operand_flag)
            arguments->settings[arguments->count++] = (cli_setting){command->operand_flag, argv[i]};
        else if (arguments->operand)
            status = carom_fail(error, CAROM_BAD_INPUT, "one %s is expected, '%.60s' is another", command->operand, argv[i]);
        else
            arguments->operand = argv[i];
    }
    if (!status) status = check_operand(arguments, error);
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

carom_status cli_apply(const cli_arguments *arguments, const carom_law *law, bool strict, void *options, carom_error *error) {
    const cli_owner owner = law_owner(law);
    return cli_apply_owner(arguments, &owner, strict, options, error);
}

carom_status cli_select(const cli_arguments *arguments, const cli_owner *owner, bool owned, cli_arguments *selected, carom_error *error) {
    *selected = *arguments;
    selected->count = 0;
    selected->settings = malloc(((size_t)arguments->count + 1) * sizeof *selected->settings);
    if (!selected->settings) return carom_fail_memory(error, "arguments");
    for (int i = 0; i < arguments->count; i++) {
        const cli_setting *setting = &arguments->settings[i];
        if ((carom_option_find(owner->options, owner->option_count, setting->name) >= 0) == owned)
            selected->settings[selected->count++] = *setting;
    }
    return CAROM_OK;
}

carom_status cli_apply_owner(const cli_arguments *arguments, const cli_owner *owner, bool strict, void *options, carom_error *error) {
    for (int i = 0; i < arguments->count; i++) {
        const cli_setting *setting = &arguments->settings[i];
        if (find_flag(arguments->command, setting->name)) continue;
        const int index = carom_option_find(owner->options, owner->option_count, setting->name);
        if (!strict && (index < 0 || !carom_option_offers(&owner->options[index], setting->value))) continue;
        char flag[NAME_SIZE];
        respell(setting->name, '_', '-', flag);
        if (index < 0) return carom_fail(error, CAROM_BAD_INPUT, "--%s is not an option of %s %s", flag, owner->kind, owner->name);
        carom_error inner;
        if (carom_option_set(&owner->options[index], options, setting->value, &inner))
            return cli_pass_on(&owner->options[index], &inner, error);
    }
    return CAROM_OK;
}

// ---------------------------------------------------------------------------------------------------------------- help

void cli_spell_flag(const carom_option *row, char flag[CLI_NAME_SIZE]) { respell(row->name, '_', '-', flag); }

const char *cli_value_word(const carom_option *row, char *word, size_t size) {
    if (row->type == CAROM_OPTION_INTEGER) return "N";
    if (row->type == CAROM_OPTION_REAL) return "X";
    if (row->type == CAROM_OPTION_CONTACTS) return "A,B,...";
    if (row->type == CAROM_OPTION_TEXT) return "NAME";
    if (row->type == CAROM_OPTION_SWITCH) return NULL;
    word[0] = '\0';
    for (int i = 0; row->choices[i]; i++) {
        const size_t used = strlen(word);
        snprintf(word + used, size - used, "%s%s", i ? "|" : "", row->choices[i]);
    }
    return word;
}

static void print_option(const carom_option *row) {
    char flag[NAME_SIZE], choices[128], left[2 * NAME_SIZE + 128];
    respell(row->name, '_', '-', flag);
    const char *value = cli_value_word(row, choices, sizeof choices);
    snprintf(left, sizeof left, "--%s%s%s", flag, value ? " " : "", value ? value : "");
    printf("  %-28s  %s%s%s%s (default %s)\n", left, row->doc, *row->unit ? " [" : "", row->unit, *row->unit ? "]" : "", row->initial);
}

// Has an earlier law or integrator of this command an option of the same name and meaning?
static bool stands_above(const cli_command *command, const carom_registry *registry, int before, const carom_option *row) {
    for (int i = 0; i < before; i++) {
        const cli_owner owner = cli_owner_at(command, registry, i);
        const int index = carom_option_find(owner.options, owner.option_count, row->name);
        if (index >= 0 && !strcmp(owner.options[index].doc, row->doc)) return true;
    }
    return false;
}

static void print_owners_options(const cli_command *command, const carom_registry *registry, int owners) {
    for (int i = 0; i < owners; i++) {
        const cli_owner owner = cli_owner_at(command, registry, i);
        printf("\n%s %s: %s\n", owner.kind, owner.name, owner.summary);
        const char *separator = "  as above: --";
        for (int k = 0; k < owner.option_count; k++)
            if (!stands_above(command, registry, i, &owner.options[k])) print_option(&owner.options[k]);
        for (int k = 0; k < owner.option_count; k++) {
            if (!stands_above(command, registry, i, &owner.options[k])) continue;
            char flag[NAME_SIZE];
            respell(owner.options[k].name, '_', '-', flag);
            printf("%s%s", separator, flag);
            separator = ", --";
        }
        if (*separator == ',') putchar('\n');
    }
}

void cli_help(const cli_command *command, const carom_registry *registry) {
    printf(command->operand_flag ? "usage: carom %s [%s ...] [options]" : "usage: carom %s %s [options]", command->name, command->operand);
    printf("\n\n%s\n\noptions:\n", command->summary);
    for (int i = 0; i < command->flag_count; i++) {
        const cli_flag *flag = &command->flags[i];
        char left[2 * NAME_SIZE];
        const bool is_output = !strcmp(flag->name, "output");
        snprintf(left, sizeof left, "%s%s%s%s", is_output ? "-o" : "--", is_output ? "" : flag->name, flag->value ? " " : "",
                 flag->value ? flag->value : "");
        printf("  %-28s  %s\n", left, flag->doc);
    }
    if (command->laws == CLI_NO_LAWS) return;
    const int integrators = count_integrators(command, registry);
    printf("\nEvery option of %s may also stand under `%s:` in the scene; the command line wins.\n",
           integrators ? "an integrator" : "a law",
           integrators        ? "simulate"
           : command->own_law ? command->own_law->name
                              : "impact");
    if (integrators) printf("Options of the law of its impacts, too, under `impact:`; `carom resolve --help` lists them.\n");
    print_owners_options(command, registry, integrators ? integrators : cli_owners(command, registry));
}
