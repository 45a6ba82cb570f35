// SPDX-License-Identifier: Apache-2.0
// The manual page: what `--help` says of every command, law and solver, as roff.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/docs/docs.h"

// Prints text so that roff shows it as it is: no escapes, no requests at the start of a line, minus signs that can be copied.
static void put_text(const char *text) {
    if (*text == '.' || *text == '\'') fputs("\\&", stdout);
    for (; *text; text++) {
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
    }
}

static void put_line(const char *text) {
    put_text(text);
    putchar('\n');
}

static void put_section(const char *title) { printf(".SH %s\n", title); }

// A subsection's title may hold anything but quotes.
static void put_subsection(const char *first, const char *second) {
    fputs(".SS \"", stdout);
    put_text(first);
    if (*second) putchar(' ');
    put_text(second);
    puts("\"");
}

// The tag of a paragraph: the flag in bold, its value in italics.
static void put_flag(const char *flag, const char *value) {
    fputs(".TP\n\\fB", stdout);
    put_text(flag);
    fputs("\\fR", stdout);
    if (value) {
        fputs(" \\fI", stdout);
        put_text(value);
        fputs("\\fR", stdout);
    }
    putchar('\n');
}

static void put_named(const char *name, const char *text) {
    put_flag(name, NULL);
    put_line(text);
}

// An option of a law or integrator, as `--help` shows it.
static void put_option(const carom_option *row) {
    char flag[CLI_NAME_SIZE], spelled[CLI_NAME_SIZE + 2], choices[128];
    cli_spell_flag(row, flag);
    snprintf(spelled, sizeof spelled, "--%s", flag);
    put_flag(spelled, cli_value_word(row, choices, sizeof choices));
    put_text(row->doc);
    if (*row->unit) {
        fputs(" [", stdout);
        put_text(row->unit);
        putchar(']');
    }
    fputs(" (default ", stdout);
    put_text(row->initial);
    puts(")");
}

// A law or an integrator.
static void put_owner(const char *name, const char *summary, const char *source, const carom_option *options, int count) {
    put_subsection(name, "");
    put_line(summary);
    puts(".br");
    fputs("Source: ", stdout);
    put_line(source);
    for (int i = 0; i < count; i++) put_option(&options[i]);
}

// A command: what it does, its flags, and where the options of its laws are.
static void put_command(const cli_command *command) {
    put_subsection(command->name, command->operand);
    putchar(toupper((unsigned char)command->summary[0]));
    put_text(command->summary + 1);
    puts(".");
    for (int i = 0; i < command->flag_count; i++) {
        const cli_flag *flag = &command->flags[i];
        char spelled[2 * CLI_NAME_SIZE];
        snprintf(spelled, sizeof spelled, "%s--%s", strcmp(flag->name, "output") ? "" : "-o, ", flag->name);
        put_flag(spelled, flag->value);
        put_line(flag->doc);
    }
    if (command->laws == CLI_NO_LAWS) return;

    // Options of laws stand in their own section, but for a law that only this command has.
    for (int i = 0; command->own_law && i < command->own_law->option_count; i++) put_option(&command->own_law->options[i]);
    puts(".PP");
    if (command->laws == CLI_INTEGRATORS)
        put_line("Takes the options of the integrator, see INTEGRATORS, and of the law of its impacts, see LAWS.");
    else if (command->own_law)
        printf("Every option with a default may also stand under `%s:` in the scene, with _ in place of - .\n", command->own_law->name);
    else if (command->law)
        printf("Takes the options of the law \\fB%s\\fR, see LAWS.\n", command->law);
    else if (command->laws == CLI_ALL_LAWS)
        put_line("Takes the options of all laws, see LAWS; each law uses those that it has.");
    else
        put_line("Takes the options of the law that is asked, see LAWS.");
}

void cli_print_manual(const cli_command *const *commands, const carom_registry *registry) {
    puts(".\\\" Made by `carom docs man` from the tables of the command: change those.");
    puts(".TH CAROM 1 \"\" \"carom " CAROM_VERSION "\" \"User Commands\"");
    put_section("NAME");
    puts("carom \\- which velocities are possible after a simultaneous rigid\\-body impact");
    // One line for each command.
    put_section("SYNOPSIS");
    for (int i = 0; commands[i]; i++) {
        if (i) puts(".br");
        printf(commands[i]->operand_flag ? "\\fBcarom %s\\fR [\\fI%s\\fR ...] [\\fIoptions\\fR]\n"
                                         : "\\fBcarom %s\\fR \\fI%s\\fR [\\fIoptions\\fR]\n",
               commands[i]->name, commands[i]->operand);
    }
    put_section("DESCRIPTION");
    put_line("A scene is a YAML or JSON file with a rigid-body system at the instant when several contacts collide. Every impact law maps "
             "it to");
    put_line("a set of outcomes, post-impact velocities with the impulses that lead to them.");
    puts("Tables go to standard output; messages, warnings and the progress bar to standard error.");

    put_section("COMMANDS");
    put_named("--help, -h", "With a command: its options. Alone: the commands.");
    put_named("--version [--verbose]", "The version; with --verbose those of the libraries that this build runs with, MuJoCo among them.");
    for (int i = 0; commands[i]; i++) put_command(commands[i]);

    put_section("LAWS");
    put_line("Every option may also stand under `impact:` in the scene, with _ in place of - ; the command line wins.");
    for (int i = 0; i < carom_registry_count(registry, CAROM_REGISTRY_LAWS); i++) {
        const carom_law *law = carom_registry_entry(registry, CAROM_REGISTRY_LAWS, i);
        put_owner(law->name, law->summary, law->source, law->options, law->option_count);
    }
    put_section("INTEGRATORS");
    put_line("Integrators move scenes in time. Every option may also stand under `simulate:` in the scene; the command line wins.");
    for (int i = 0; i < carom_registry_count(registry, CAROM_REGISTRY_INTEGRATORS); i++) {
        const carom_integrator *one = carom_registry_entry(registry, CAROM_REGISTRY_INTEGRATORS, i);
        put_owner(one->name, one->summary, one->source, one->options, one->option_count);
    }
    put_section("LCP SOLVERS");
    put_line("Values of --solver:");
    for (int i = 0; i < carom_registry_count(registry, CAROM_REGISTRY_SOLVERS); i++) {
        const carom_lcp_solver *solver = carom_registry_entry(registry, CAROM_REGISTRY_SOLVERS, i);
        if (carom_lcp_available(solver)) put_named(solver->name, solver->summary);
    }

    // What is the same for every command.
    put_section("EXIT STATUS");
    put_named("0", "Done. Samples that did not terminate are a result.");
    put_named("1", "The computation could not finish or is incomplete; what was found is printed, kept and marked.");
    put_named("2", "Bad input or usage: one line on standard error.");
    put_section("EXAMPLES");
    static const char *const examples[][2] = {
        {"carom resolve scenes/block.yaml --law sequential", "The outcomes of one law."},
        {"carom sample scenes/block.yaml -o block.h5", "The set of possible outcomes, sampled, and written to a file."},
        {"carom plot block.h5", "A picture of it."},
        {"carom explore block.h5 -o block.html", "A page to explore it in a browser."},
        {"carom simulate scenes/ellipsoid.yaml -o ellipsoid.h5", "A body from impact to impact."},
        {"carom compare scenes/block.yaml -o out", "All laws: out/index.md shows tables and pictures."},
        {"carom measure impacts.json --fit mu,e -o out", "Laws against measured impacts: out/index.html shows tables and pictures."},
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) put_named(examples[i][0], examples[i][1]);
    put_section("SEE ALSO");
    puts(".BR gnuplot (1)");
}
