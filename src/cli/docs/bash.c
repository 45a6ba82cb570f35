// SPDX-License-Identifier: Apache-2.0
// The completion of bash: a function whose cases are written out from the tables of commands, laws and solvers.
// It needs neither the package bash-completion nor, while it completes, the command.
#include <stdio.h>
#include <string.h>

#include "cli/docs/docs.h"

static const carom_law *law_at(const carom_registry *registry, int index) {
    return carom_registry_entry(registry, CAROM_REGISTRY_LAWS, index);
}

static void put_laws(const carom_registry *registry) {
    for (int i = 0; i < carom_registry_count(registry, CAROM_REGISTRY_LAWS); i++) printf(" %s", law_at(registry, i)->name);
}

static void put_integrators(const carom_registry *registry) {
    for (int i = 0; i < carom_registry_count(registry, CAROM_REGISTRY_INTEGRATORS); i++) {
        const carom_integrator *integrator = carom_registry_entry(registry, CAROM_REGISTRY_INTEGRATORS, i);
        printf(" %s", integrator->name);
    }
}

static void put_solvers(const carom_registry *registry) {
    for (int i = 0; i < carom_registry_count(registry, CAROM_REGISTRY_SOLVERS); i++) {
        const carom_lcp_solver *solver = carom_registry_entry(registry, CAROM_REGISTRY_SOLVERS, i);
        if (carom_lcp_available(solver)) printf(" %s", solver->name);
    }
}

// "man|bash" as words.
static void put_alternatives(const char *value) {
    putchar(' ');
    for (; *value; value++) putchar(*value == '|' ? ' ' : *value);
}

// --------------------------------------------------------------------------------------------------- options of laws

// Calls `visit` for every option of the command's laws or integrators, once for each name.
typedef void (*option_visit)(const cli_command *command, const carom_registry *registry, const carom_option *row);

static bool stands_before(const cli_command *command, const carom_registry *registry, int before, const char *name) {
    for (int i = 0; i < before; i++) {
        const cli_owner owner = cli_owner_at(command, registry, i);
        if (carom_option_find(owner.options, owner.option_count, name) >= 0) return true;
    }
    return false;
}

static void visit_options(const cli_command *command, const carom_registry *registry, option_visit visit) {
    for (int i = 0; i < cli_owners(command, registry); i++) {
        const cli_owner owner = cli_owner_at(command, registry, i);
        for (int k = 0; k < owner.option_count; k++)
            if (!stands_before(command, registry, i, owner.options[k].name)) visit(command, registry, &owner.options[k]);
    }
}

// Is the choice one of an owner before this one?
static bool is_offered_before(const cli_command *command, const carom_registry *registry, int before, const char *name,
                              const char *choice) {
    for (int i = 0; i < before; i++) {
        const cli_owner owner = cli_owner_at(command, registry, i);
        const int index = carom_option_find(owner.options, owner.option_count, name);
        if (index >= 0 && carom_option_offers(&owner.options[index], choice)) return true;
    }
    return false;
}

// Choices of an option by all owners of the command that have it.
static void put_choices(const cli_command *command, const carom_registry *registry, const char *name) {
    for (int i = 0; i < cli_owners(command, registry); i++) {
        const cli_owner owner = cli_owner_at(command, registry, i);
        const int index = carom_option_find(owner.options, owner.option_count, name);
        if (index < 0 || owner.options[index].type != CAROM_OPTION_CHOICE) continue;
        for (const char *const *choice = owner.options[index].choices; *choice; choice++)
            if (!is_offered_before(command, registry, i, name, *choice)) printf(" %s", *choice);
    }
}

// --------------------------------------------------------------------------------------------------- values of flags

// What may follow a flag: each case fills `words`, or `files` with kinds of files.
static void put_flag_case(const cli_command *command, const carom_registry *registry, const cli_flag *flag) {
    if (!flag->value) return;
    printf("    '%s --%s'", command->name, flag->name);
    if (!strcmp(flag->name, "output")) printf(" | '%s -o'", command->name);
    fputs(") ", stdout);
    if (!strcmp(flag->value, "FILE")) {
        puts("files='any' ;;");
        return;
    }
    if (!strcmp(flag->value, "DIR")) {
        puts("files='directory' ;;");
        return;
    }
    fputs("words='", stdout);
    if (!strcmp(flag->name, "law")) put_laws(registry);
    if (!strcmp(flag->name, "integrator")) put_integrators(registry);
    if (!strcmp(flag->name, "solver")) put_solvers(registry);
    if (strchr(flag->value, '|')) put_alternatives(flag->value);
    puts("' ;;");
}

static void put_option_case(const cli_command *command, const carom_registry *registry, const carom_option *row) {
    if (row->type == CAROM_OPTION_SWITCH) return;
    char flag[CLI_NAME_SIZE];
    cli_spell_flag(row, flag);
    printf("    '%s --%s') words='", command->name, flag);
    if (!strcmp(row->name, "solver")) put_solvers(registry);
    if (!strcmp(row->name, "law")) put_laws(registry);
    put_choices(command, registry, row->name);
    puts("' ;;");
}

// --------------------------------------------------------------------------------------------------- flags and operands

static void put_option_flag(const cli_command *command, const carom_registry *registry, const carom_option *row) {
    (void)command, (void)registry;
    char flag[CLI_NAME_SIZE];
    cli_spell_flag(row, flag);
    printf(" --%s", flag);
}

static void put_flags_case(const cli_command *command, const carom_registry *registry) {
    printf("    '%s -'*) words='--help", command->name);
    for (int i = 0; i < command->flag_count; i++)
        printf(" %s%s", strcmp(command->flags[i].name, "output") ? "--" : "-o --", command->flags[i].name);
    visit_options(command, registry, put_option_flag);
    puts("' ;;");
}

static void put_operand_case(const cli_command *command) {
    static const char *const endings[][2] = {{"SCENE", "directory .yaml .yml .json"}, {"RESULT", "directory .h5"}};
    const char *files = strchr(command->operand, '|') ? "" : "any";
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (!strcmp(command->operand, endings[i][0])) files = endings[i][1];
    printf("    '%s '*) ", command->name);
    if (*files) {
        printf("files='%s' ;;\n", files);
        return;
    }
    fputs("words='", stdout);
    put_alternatives(command->operand);
    puts("' ;;");
}

// -------------------------------------------------------------------------------------------------------------- script

static const char opening[] = "# bash completion for carom " CAROM_VERSION "; made by `carom docs bash` from the tables of the command.\n"
                              "\n"
                              "# _carom_files TYPED KIND...: 'any' file, each 'directory', files with an ending.\n"
                              "_carom_files() {\n"
                              "    local typed=$1 kind path\n"
                              "    compopt -o filenames 2>/dev/null\n"
                              "    while IFS= read -r path; do\n"
                              "        COMPREPLY+=(\"$path\")\n"
                              "    done < <(\n"
                              "        for kind in \"${@:2}\"; do\n"
                              "            case $kind in\n"
                              "            any) compgen -f -- \"$typed\" ;;\n"
                              "            directory) compgen -d -- \"$typed\" ;;\n"
                              "            *) compgen -f -X \"!*$kind\" -- \"$typed\" ;;\n"
                              "            esac\n"
                              "        done\n"
                              "    )\n"
                              "}\n"
                              "\n"
                              "_carom() {\n"
                              "    local typed=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}\n"
                              "    local words='' files=''\n"
                              "    COMPREPLY=()\n"
                              "    # bash takes --flag=value apart at the sign.\n"
                              "    if [[ $typed == = ]]; then\n"
                              "        typed=''\n"
                              "    elif [[ $before == = ]]; then\n"
                              "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
                              "    fi\n"
                              "    if ((COMP_CWORD == 1)); then\n"
                              "        command='' before=''\n"
                              "    fi\n"
                              "    # What may follow a flag that takes a value.\n"
                              "    case \"$command $before\" in\n";

static const char middle[] = "    *)\n"
                             "        # Otherwise a flag or the operand.\n"
                             "        case \"$command $typed\" in\n";

static const char closing[] = "        esac\n"
                              "        ;;\n"
                              "    esac\n"
                              "    # Both are lists of words without blanks or wildcards.\n"
                              "    # shellcheck disable=SC2207,SC2086\n"
                              "    if [[ $files ]]; then\n"
                              "        _carom_files \"$typed\" $files\n"
                              "    else\n"
                              "        COMPREPLY=($(compgen -W \"$words\" -- \"$typed\"))\n"
                              "    fi\n"
                              "}\n"
                              "\n"
                              "complete -F _carom carom\n";

void cli_print_completion(const carom_registry *registry) {
    fputs(opening, stdout);
    for (int i = 0; cli_commands[i]; i++) {
        for (int k = 0; k < cli_commands[i]->flag_count; k++) put_flag_case(cli_commands[i], registry, &cli_commands[i]->flags[k]);
        visit_options(cli_commands[i], registry, put_option_case);
    }
    fputs(middle, stdout);
    fputs("    ' '*) words='--help --version help", stdout);
    for (int i = 0; cli_commands[i]; i++) printf(" %s", cli_commands[i]->name);
    puts("' ;;");
    for (int i = 0; cli_commands[i]; i++) {
        put_flags_case(cli_commands[i], registry);
        put_operand_case(cli_commands[i]);
    }
    fputs(closing, stdout);
}
