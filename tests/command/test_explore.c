// SPDX-License-Identifier: Apache-2.0
// `carom explore`: what the command gives to Python, and what it says when there is none. The page itself is tested with the package.
#include "command_support.h"

#include <stdlib.h>
#include <string.h>

// A Python that writes down what it was called with, and makes the page.
static const char fake[] =
    "printf '#!/bin/sh\\nshift 4\\nprintf \"%%s|\" \"$@\" > words\\nfor last; do :; done\\n: > \"$last\"\\n' > python\n"
    "chmod +x python\n";

static void python_gets_results_and_page(void **state) {
    run_quietly(*state, 0, fake);
    char *out = run_line(*state, 0, "CAROM_PYTHON=./python \"$carom\" explore set.h5 --overlay 'a b.h5,c.h5' -o page.html; cat words");
    assert_string_equal(out, "page.html\nset.h5|a b.h5|c.h5|page.html|");
    free(out);
    // Without -o the page is called after the result, whose folder may have a point in its name.
    run_quietly(*state, 0, "mkdir in.2 && CAROM_PYTHON=./python \"$carom\" explore in.2/set && test -e in.2/set.html");
    out = run_line(*state, 0, "CAROM_PYTHON=./python \"$carom\" explore set.h5 --json");
    json_t *document = json_loads(out, 0, NULL);
    assert_string_equal(text(document, "schema"), "carom.explore/1");
    assert_string_equal(text(document, "files.0"), "set.html");
    assert_string_equal(text(document, "verdict"), "complete");
    json_decref(document);
    free(out);
}

static void without_python_there_is_one_line(void **state) {
    char *out =
        run_line(*state, 0, "CAROM_PYTHON=./none \"$carom\" explore set.h5 --json 2>said; echo \"status $?\"; wc -l < said; cat said");
    check_text(out, "status 2\n1\ncarom: explore needs Python with the packages carom and plotly, and there is no './none'");
    free(out);
    // Python without the package, or one that breaks off, leaves no name of a page.
    run_quietly(*state, 0, "printf '#!/bin/sh\\necho \"carom: no package\" >&2\\nexit 2\\n' > python && chmod +x python");
    out = run_line(*state, 0, "CAROM_PYTHON=./python \"$carom\" explore set.h5 2>said; echo \"status $?\"; cat said");
    assert_string_equal(out, "status 2\ncarom: no package\n");
    free(out);
    run_quietly(*state, 0, "printf '#!/bin/sh\\nkill -9 $$\\n' > python");
    out = run_line(*state, 0, "CAROM_PYTHON=./python \"$carom\" explore set.h5 2>&1; echo \"status $?\"");
    assert_string_equal(out, "carom: ./python did not finish the page\nstatus 1\n");
    free(out);
}

// A Python that lacks a package makes way for the system's, without a word; where that lacks one, too, the first says what it needs.
static void a_python_without_the_package_makes_way(void **state) {
#ifdef __SANITIZE_ADDRESS__
    // A package with sanitizers needs theirs to be loaded before Python.
    skip();
#endif
    run_quietly(
        *state, 0,
        "mkdir own && printf '#!/bin/sh\\necho \"$4\" >> tried\\n[ \"$4\" = quiet ] && exit 3\\necho \"carom: $4\" >&2\\nexit 2\\n' > "
        "own/python3 && chmod +x own/python3");
    char *out =
        run_line(*state, 0, "PATH=\"$PWD/own:$PATH\" \"$carom\" explore none.h5 2>said; echo \"status $?\"; wc -l < said; cat tried said");
    check_text(out, "status 2\n1\nquiet\n");
    // The system's Python has the packages, and misses the file; or it lacks them.
    assert_true(strstr(out, "none.h5") || strstr(out, "carom: /usr/bin/python3\n"));
    free(out);
}

static void a_page_is_html(void **state) {
    run_quietly(*state, 0, fake);
    char *out =
        run_line(*state, 0, "CAROM_PYTHON=./python \"$carom\" explore set.h5 -o page.png 2>&1; echo \"status $?\"; test ! -e words");
    check_text(out, "status 2");
    check_text(out, "page.png");
    check_text(out, ".html");
    free(out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(python_gets_results_and_page, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_python_there_is_one_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_python_without_the_package_makes_way, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_page_is_html, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, find_command, NULL);
}
