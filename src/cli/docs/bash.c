// SPDX-License-Identifier: Apache-2.0
// The completion of bash: a function whose cases are written out from the tables of commands, laws and solvers.
// It needs neither the package bash-completion nor, while it completes, the command.
#include <stdio.h>
#include <string.h>

#include "cli/docs/docs.h"

// Names of laws, integrators or solvers, as words; none for any other option.
static void put_names(const carom_registry *registry, const char *what) {
    const bool is_law = !strcmp(what, "law"), is_integrator = !strcmp(what, "integrator");
    if (!is_law && !is_integrator && strcmp(what, "solver") != 0) return;
    const carom_registry_kind kind = is_law ? CAROM_REGISTRY_LAWS : is_integrator ? CAROM_REGISTRY_INTEGRATORS : CAROM_REGISTRY_SOLVERS;
    const char *name, *summary;
    for (int i = 0; i < carom_registry_count(registry, kind); i++)
        if (cli_describe_entry(registry, kind, i, &name, &summary)) printf(" %s", name);
}

// "man|bash" as words.
static void put_alternatives(const char *value) {
    putchar(' ');
    for (; *value; value++) putchar(*value == '|' ? ' ' : *value);
}

// --------------------------------------------------------------------------------------------------- options of laws

// Has one of the command's first `before` laws or integrators an option of this name and, unless that is NULL, with this choice?
static bool stands_before(const cli_command *command, const carom_registry *registry, int before, const char *name, const char *choice) {
    for (int i = 0; i < before; i++) {
        const cli_owner owner = cli_owner_at(command, registry, i);
        const int index = carom_option_find(owner.options, owner.option_count, name);
        if (index >= 0 && (!choice || carom_option_offers(&owner.options[index], choice))) return true;
    }
    return false;
}

// Calls `visit` for every option of the command's laws or integrators, once for each name.
typedef void (*option_visit)(const cli_command *command, const carom_registry *registry, const carom_option *row);

static void visit_options(const cli_command *command, const carom_registry *registry, option_visit visit) {
    for (int i = 0; i < cli_owners(command, registry); i++) {
        const cli_owner owner = cli_owner_at(command, registry, i);
        for (int k = 0; k < owner.option_count; k++)
            if (!stands_before(command, registry, i, owner.options[k].name, NULL)) visit(command, registry, &owner.options[k]);
    }
}

// What may follow an option: the names or choices that any law of the command takes.
static void put_option_case(const cli_command *command, const carom_registry *registry, const carom_option *row) {
    if (row->type == CAROM_OPTION_SWITCH) return;
    char flag[CLI_NAME_SIZE];
    cli_spell_flag(row, flag);
    printf("    '%s --%s') words='", command->name, flag);
    if (strcmp(row->name, "integrator") != 0) put_names(registry, row->name);
    for (int i = 0; i < cli_owners(command, registry); i++) {
        const cli_owner owner = cli_owner_at(command, registry, i);
        const int index = carom_option_find(owner.options, owner.option_count, row->name);
        if (index < 0 || owner.options[index].type != CAROM_OPTION_CHOICE) continue;
        for (const char *const *choice = owner.options[index].choices; *choice; choice++)
            if (!stands_before(command, registry, i, row->name, *choice)) printf(" %s", *choice);
    }
    puts("' ;;");
}

// The flag of an option, as a word.
static void put_option_flag(const cli_command *command, const carom_registry *registry, const carom_option *row) {
    (void)command, (void)registry;
    char flag[CLI_NAME_SIZE];
    cli_spell_flag(row, flag);
    printf(" --%s", flag);
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

void cli_print_completion(const cli_command *const *commands, const carom_registry *registry) {
    static const char *const endings[][2] = {{"SCENE", "directory .yaml .yml .json .xml .urdf"}, {"RESULT", "directory .h5"}};
    fputs(opening, stdout);
    for (int i = 0; commands[i]; i++) {
        for (int k = 0; k < commands[i]->flag_count; k++) {
            // What may follow a flag of the command itself: each case fills `words`, or `files` with kinds of files.
            const cli_flag *flag = &commands[i]->flags[k];
            if (!flag->value) continue;
            printf("    '%s --%s'", commands[i]->name, flag->name);
            if (!strcmp(flag->name, "output")) printf(" | '%s -o'", commands[i]->name);
            fputs(") ", stdout);
            if (!strcmp(flag->value, "FILE")) {
                puts("files='any' ;;");
            } else if (!strcmp(flag->value, "DIR")) {
                puts("files='directory' ;;");
            } else {
                fputs("words='", stdout);
                put_names(registry, flag->name);
                if (strchr(flag->value, '|')) put_alternatives(flag->value);
                puts("' ;;");
            }
        }
        visit_options(commands[i], registry, put_option_case);
    }
    // Flags and operands, where the word before asks for no value.
    fputs(middle, stdout);
    fputs("    ' '*) words='--help --version help", stdout);
    for (int i = 0; commands[i]; i++) printf(" %s", commands[i]->name);
    puts("' ;;");
    puts("    '--version '*) words='--verbose' ;;");
    for (int i = 0; commands[i]; i++) {
        // A word that starts with a dash is a flag.
        const cli_command *command = commands[i];
        printf("    '%s -'*) words='--help", command->name);
        for (int k = 0; k < command->flag_count; k++)
            printf(" %s%s", strcmp(command->flags[k].name, "output") ? "--" : "-o --", command->flags[k].name);
        visit_options(command, registry, put_option_flag);
        puts("' ;;");

        // Any other word is the operand: alternatives, or a file.
        printf("    '%s '*) ", command->name);
        if (strchr(command->operand, '|')) {
            fputs("words='", stdout);
            put_alternatives(command->operand);
            puts("' ;;");
            continue;
        }
        const char *files = "any";
        for (size_t k = 0; k < sizeof endings / sizeof *endings; k++)
            if (!strcmp(command->operand, endings[k][0])) files = endings[k][1];
        printf("files='%s' ;;\n", files);
    }
    fputs(closing, stdout);
}
