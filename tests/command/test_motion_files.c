// SPDX-License-Identifier: Apache-2.0
// What leaves `carom simulate` for other programs and for people: arrays for MuJoCo, VTK, pictures, animations.
#include "command_support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Entry `i` of a list of texts.
static const char *text_of(const json_t *answer, const char *list, size_t i) {
    char place[64];
    snprintf(place, sizeof place, "%s.%zu", list, i);
    return text(answer, place);
}

// ------------------------------------------------------------------------------------------------------------- MuJoCo

// The last row of the table is the final state, its columns are named, and NumPy, where it is installed, reads the same from the archive.
static void states_go_to_mujoco(void **state) {
    char scene[PATH_SIZE];
    motion_path("zeno-block", scene);
    json_t *answer = ask(*state, "simulate", scene, "--duration", "1", "--mujoco", "z.csv");
    assert_string_equal(text(answer, "mujoco"), "z.csv");
    char *table = read_file(*state, "z.csv"), *last = table + strlen(table) - 1;
    static const char names[] = "t,qpos.1,qpos.2,qpos.3,qvel.1,qvel.2,qvel.3\n0,0,1,0,-1,0.5,1";
    assert_memory_equal(table, names, strlen(names));
    while (last[-1] != '\n') last--;
    static const char *const places[] = {"final.t",      "final.qpos.0", "final.qpos.1", "final.qpos.2",
                                         "final.qvel.0", "final.qvel.1", "final.qvel.2"};
    for (int i = 0; i < 7; i++) {
        assert_true(strtod(last, &last) == number(answer, places[i]));
        last++;
    }
    json_decref(answer);
    free(table);
    json_decref(ask(*state, "simulate", scene, "--duration", "1", "--mujoco", "z.npz"));
    run_quietly(*state, 0,
                "python3 -c 'import numpy' 2>/dev/null || exit 0\n"
                "python3 -c '\nimport numpy\nrun, table = numpy.load(\"z.npz\"), numpy.loadtxt(\"z.csv\", delimiter=\",\", skiprows=1)\n"
                "assert run[\"t\"].shape == (len(table),) and len(table) > 1000\n"
                "assert (run[\"t\"] == table[:, 0]).all() and (run[\"qpos\"] == table[:, 1:4]).all()\n"
                "assert (run[\"qvel\"] == table[:, 4:]).all()'");
}

// The printed lines are Python, and set every position of the run, in a MuJoCo that notes what it is given.
static void printed_lines_play_the_states(void **state) {
    char scene[PATH_SIZE];
    run_quietly(*state, 0, "mkdir -p mujoco && touch mujoco/viewer.py");
    write_text(
        *state, "mujoco/__init__.py",
        "import numpy\nseen = []\n"
        "class MjModel:\n    nq = 3\n    def from_xml_path(path):\n        assert path.endswith('block.xml')\n        return MjModel()\n"
        "class MjData:\n    def __init__(self, model):\n        self.qpos = numpy.zeros(3)\n"
        "def mj_forward(model, data):\n    seen.append(data.qpos.copy())\n");
    write_text(*state, "mujoco/viewer.py",
               "class Viewer:\n    def sync(self):\n        pass\ndef launch_passive(model, data):\n    return Viewer()\n");
    motion_path("zeno-block", scene);
    for (int i = 0; i < 2; i++) {
        const char *file = i ? "z.csv" : "z \"1\".npz";
        report r = run(*state, "simulate", scene, "--duration", "0.05", "--mujoco", file);
        assert_int_equal(r.status, 0);
        const char *lines = strstr(r.out, "import mujoco");
        assert_non_null(lines);
        assert_int_equal(count_text(lines, "\n"), 3);
        write_text(*state, "player.py", lines);
        release(&r);
        run_quietly(*state, 0,
                    "python3 -c 'import numpy' 2>/dev/null || exit 0\n"
                    "(cat player.py; echo 'assert len(mujoco.seen) == len(t) and (numpy.array(mujoco.seen) == qpos).all()') > check.py\n"
                    "PYTHONDONTWRITEBYTECODE=1 python3 check.py");
    }
}

// -------------------------------------------------------------------------------------------------------------- states

// A run that is cut in two through a file ends as one that is not. What is no such file is refused, and a run that ends within a step says
// that it leaves none.
static void motions_go_on_from_files(void **state) {
    char scene[PATH_SIZE];
    motion_path("rough-ball", scene);
    json_t *whole = ask(*state, "simulate", scene, "--duration", "3");
    json_decref(ask(*state, "simulate", scene, "--duration", "1", "--save-state", "half.json"));
    json_t *rest = ask(*state, "simulate", scene, "--duration", "3", "--resume", "half.json");
    assert_true(json_equal(json_object_get(whole, "final"), json_object_get(rest, "final")));
    assert_true(number(whole, "impact_count") > 2 && number(whole, "impact_count") == number(rest, "impact_count"));
    json_decref(whole);
    json_decref(rest);
    write_text(*state, "list.json", "[1]");
    write_text(*state, "cut.json", "{\"schema\": \"carom.state/1\", ");
    write_text(*state, "other.json", "{\"schema\": \"carom.state/1\", \"integrator\": \"stepping\"}");
    static const char *const wrong[][2] = {{"list.json", "list.json: schema: is not carom.state/1"},
                                           {"cut.json", "carom: cut.json:1: "},
                                           {"other.json", "other.json: integrator: is not rodrigues"},
                                           {"none.json", "none.json: cannot be opened: No such file"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        report r = run(*state, "simulate", scene, "--resume", wrong[i][0]);
        assert_int_equal(r.status, 2);
        assert_non_null(strstr(r.err, wrong[i][1]));
        release(&r);
    }
    report r = run(*state, "simulate", scene, "--step", "3", "--duration", "3", "--max-impacts", "1", "--save-state", "never.json");
    assert_int_equal(r.status, 1);
    assert_non_null(strstr(r.err, "carom: warning: never.json: not written"));
    release(&r);
    run_quietly(*state, 0, "test ! -e never.json");
}

// ---------------------------------------------------------------------------------------------------------------- VTK

// What a legacy file of surfaces holds, after it was read as the format says.
typedef struct surfaces {
    long points, vertices, lines, triangles;
    double time, least[3], most[3];
} surfaces;

static surfaces read_surfaces(const char *directory, const char *name) {
    surfaces found = {.least = {1e300, 1e300, 1e300}, .most = {-1e300, -1e300, -1e300}};
    char *content = read_file(directory, name), *at = strstr(content, "TimeValue 1 1 double\n");
    static const char start[] = "# vtk DataFile Version 3.0\n";
    assert_memory_equal(content, start, strlen(start));
    assert_non_null(strstr(content, "\nASCII\nDATASET POLYDATA\nFIELD FieldData 1\n"));
    assert_non_null(at);
    found.time = strtod(strchr(at, '\n'), &at);
    assert_int_equal(sscanf(at, " POINTS %ld double", &found.points), 1);
    at = strchr(at + 1, '\n');
    for (long i = 0; i < 3 * found.points; i++) {
        const double x = strtod(at, &at);
        if (x < found.least[i % 3]) found.least[i % 3] = x;
        if (x > found.most[i % 3]) found.most[i % 3] = x;
    }
    // Sections of cells: how many, how many numbers, then each with the number of its points.
    long *const counts[] = {&found.vertices, &found.lines, &found.triangles}, numbers, cells = 0;
    static const char *const sections[] = {" VERTICES %ld %ld", " LINES %ld %ld", " POLYGONS %ld %ld"};
    for (int kind = 0; kind < 3; kind++) {
        if (sscanf(at, sections[kind], counts[kind], &numbers) != 2) continue;
        at = strchr(at + 1, '\n');
        assert_int_equal(numbers, (kind + 2) * *counts[kind]);
        for (long i = 0; i < numbers; i++) {
            const long number = strtol(at, &at, 10);
            if (i % (kind + 2) == 0) assert_int_equal(number, kind + 1);
            assert_true(number >= 0 && (i % (kind + 2) == 0 || number < found.points));
        }
        cells += *counts[kind];
    }
    long all, arrays;
    assert_int_equal(sscanf(at, " CELL_DATA %ld FIELD FieldData 1 body 1 %ld double", &all, &arrays), 2);
    assert_true(all == cells && arrays == cells);
    at = strstr(at, "double\n") + 7;
    for (long i = 0; i < cells; i++) strtod(at, &at);
    assert_string_equal(at, "\n");
    free(content);
    return found;
}

// A body with its plane, a mechanism, and balls as surfaces; one file for each state, a list of them, and the last state.
static void every_motion_goes_to_vtk(void **state) {
    char scene[PATH_SIZE];
    json_decref(ask(*state, "simulate", motion_path("zeno-block", scene), "--duration", "0.3", "--every", "100", "--vtk", "z.vtk"));
    surfaces last = read_surfaces(*state, "z.vtk"), first = read_surfaces(*state, "z-000000.vtk");
    assert_true(last.time == 0.3 && first.time == 0);
    assert_true(last.points == 8 && last.triangles == 12 && !last.lines && !last.vertices);
    // The block is 1 m wide and 2 m high, and stands upright at the start.
    assert_close(first.most[0] - first.least[0], 1, 1e-15);
    assert_close(first.most[2] - first.least[2], 2, 1e-15);
    assert_true(last.most[0] - last.least[0] > 1.1);
    json_decref(ask(*state, "simulate", motion_path("ellipsoid", scene), "--duration", "0.1", "--vtk", "e.vtk"));
    last = read_surfaces(*state, "e.vtk");
    // Half axes of 2, 3 and 4 m, about 11 m high, above the square of a plane at height 0.
    assert_true(last.triangles > 500 && last.least[2] == 0 && last.most[2] > 13);
    json_decref(ask(*state, "simulate", motion_path("painleve-rod", scene), "--duration", "0.002", "--vtk", "p.vtk"));
    last = read_surfaces(*state, "p.vtk");
    // A body without geoms is drawn as the line of its joints, masses and sites.
    assert_true(last.lines == 1 && last.points == 2 && !last.triangles);
    json_decref(ask(*state, "simulate", motion_path("rack", scene), "--duration", "0.01", "--vtk", "r.vtk"));
    last = read_surfaces(*state, "r.vtk");
    assert_true(last.triangles > 1000 && last.least[1] == -0.5 && last.most[1] == 0.5);
}

// A name without ending is a directory, which is there afterwards only if the run was.
static void vtk_goes_to_a_directory(void **state) {
    char scene[PATH_SIZE], bytes[16], path[PATH_SIZE];
    json_decref(ask(*state, "simulate", motion_path("zeno-block", scene), "--duration", "0.01", "--every", "5", "--vtk", "block"));
    run_quietly(*state, 0, "[ \"$(ls block | wc -l)\" = 5 ] && grep -c motion-000002.vtp block/motion.vtp.series && rm -r block");
    json_decref(ask(*state, "simulate", scene, "--duration", "0.001", "--vtk", "block.vtp"));
    read_start(join(path, *state, "block.vtp"), bytes, sizeof bytes);
    assert_memory_equal(bytes, "<?xml", 5);
    run_quietly(*state, 0,
                "python3 -c 'import xml.etree' 2>/dev/null || exit 0\n"
                "python3 -c '\nimport xml.etree.ElementTree as tree\npiece = tree.parse(\"block.vtp\").getroot()[0][1]\n"
                "arrays = {a.get(\"Name\"): a.text.split() for a in piece.iter(\"DataArray\")}\n"
                "assert len(arrays[\"Points\"]) == 3 * int(piece.get(\"NumberOfPoints\")) == 24\n"
                "assert len(arrays[\"connectivity\"]) == 3 * int(piece.get(\"NumberOfPolys\")) == 36\n"
                "assert arrays[\"offsets\"] == [str(3 * i + 3) for i in range(12)] and len(arrays[\"body\"]) == 12'");
    const request asked = {
        .directory = *state, .arguments = WORDS("simulate", scene, "--duration", "0.01", "--vtk", "full"), .file_limit = 900};
    char *before = snapshot(*state);
    report r = run_request(&asked);
    char *after = snapshot(*state);
    if (!is_refusal(&r, "the file cannot be written")) show(&asked, &r);
    assert_true(is_refusal(&r, "the file cannot be written"));
    assert_string_equal(before, after);
    release(&r);
    free(before);
    free(after);
}

// ------------------------------------------------------------------------------------------------------------ ensembles

// The states of all members are in the file, one after the other; the first of each are those of the start.
static void members_record_their_paths(void **state) {
    char scene[PATH_SIZE], path[PATH_SIZE];
    json_t *answer = ask(*state, "simulate", motion_path("dropped-block", scene), "--duration", "0.3", "--ensemble", "3",
                         "--record-members", "--threads", "2", "-o", "m.h5");
    json_decref(answer);
    join(path, *state, "m.h5");
    const size_t rows = count_rows(path, "inclusion/ensemble_states/t");
    size_t size[2];
    read_size(path, "inclusion/ensemble_states/qpos", size);
    assert_int_equal(size[0], rows);
    assert_int_equal(size[1], 3);
    assert_true(rows >= 3 * 300);
    assert_int_equal(count_rows(path, "inclusion/ensemble_states/member"), rows);
}

// ------------------------------------------------------------------------------------------------------------ pictures

// Pictures of a mechanism over part of its time, and frames of many bodies at given times.
static void pictures_show_what_is_asked(void **state) {
    char scene[PATH_SIZE];
    json_t *answer = ask(*state, "simulate", motion_path("zeno-block", scene), "--duration", "1.2", "--figures", "z", "--window", "0.5:1");
    static const char *const names[] = {"energy-change", "coordinates-m", "coordinates-rad", "time",
                                        "impulse",       "rates",         "phase",           "view-side"};
    char path[PATH_SIZE];
    assert_int_equal(length(answer, "figures"), sizeof names / sizeof *names);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_non_null(strstr(text_of(answer, "figures", i), names[i]));
        assert_true(is_png(join(path, *state, text_of(answer, "figures", i))));
    }
    json_decref(answer);
    answer = ask(*state, "simulate", motion_path("torus", scene), "--duration", "0.2", "--figures", "t", "--times", "0,0.1,0.15");
    assert_int_equal(length(answer, "figures"), 7);
    assert_true(is_png(join(path, *state, "t-frames.png")));
    json_decref(answer);
    answer = ask(*state, "simulate", motion_path("bouncing-box", scene), "--duration", "1", "--figures", "b", "--views", "3d,top",
                 "--times", "0,0.5", "--size", "column");
    assert_int_equal(length(answer, "figures"), 7);
    assert_true(is_png(join(path, *state, "b-view-3d.png")) && is_png(join(path, *state, "b-view-top.png")));
    json_decref(answer);
    report r = run(*state, "simulate", motion_path("pendulum", scene), "--duration", "1", "--figures", "p", "--window", "2:3");
    assert_true(is_refusal(&r, "--window: no state was recorded from 2 s to 3 s; the last is at 1 s"));
    release(&r);
}

// ---------------------------------------------------------------------------------------------------------- animations

// A film of a motion, whose frames leave nothing behind; without ffmpeg one sentence says so before anything is computed.
static void motions_become_films(void **state) {
    if (!support_has("MUJOCO")) skip();
    char scene[PATH_SIZE], bytes[16], path[PATH_SIZE], line[2 * PATH_SIZE];
    motion_path("zeno-block", scene);
    snprintf(
        line, sizeof line,
        "PATH=/nowhere \"$carom\" simulate %s --animate b.gif 2> said; status=$?; grep -q 'carom: --animate: b.gif: animations are made by "
        "ffmpeg, which was not found: install ffmpeg' said && [ $(grep -c '' said) = 1 ] && rm said && [ \"$(ls -A)\" = line.sh ] && exit "
        "$status",
        scene);
    run_quietly(*state, 2, line);
    char *installed = run_line(*state, 0, "command -v ffmpeg || true");
    const bool missing = !*installed;
    free(installed);
    if (missing) skip();
    json_t *answer = ask(*state, "simulate", scene, "--duration", "0.2", "--animate", "b.gif");
    assert_string_equal(text(answer, "figures.0"), "b.gif");
    json_decref(answer);
    read_start(join(path, *state, "b.gif"), bytes, sizeof bytes);
    assert_memory_equal(bytes, "GIF8", 4);
    run_quietly(*state, 0, "[ \"$(echo $(ls -A))\" = 'b.gif line.sh' ]");
    // Other files are not replaced.
    write_text(*state, "mine.mp4", "a note of mine");
    report r = run(*state, "simulate", scene, "--duration", "0.2", "--animate", "mine.mp4");
    assert_true(is_refusal(&r, "--animate: mine.mp4: is not an MP4 video"));
    release(&r);
    // Stopped between two frames: no film, no folder of frames, and the motion itself is there.
    snprintf(line, sizeof line,
             "\"$carom\" simulate %s --animate c.mp4 --json > answer & job=$!\n"
             "while ! [ -s .c.mp4.*/frames ]; do sleep 0.05; done 2> /dev/null\n"
             "kill -TERM $job; wait $job; status=$?\n"
             "[ \"$(echo $(ls -A))\" = 'answer b.gif line.sh mine.mp4' ] || exit 9\n"
             "grep -q '\"verdict\": \"interrupted\"' answer && grep -q '\"time\": 4' answer && exit $status\n",
             scene);
    run_quietly(*state, 1, line);
}

// ----------------------------------------------------------------------------------------------------------- bad input

static const refusal refusals[] = {
    {"simulate case.yaml --mujoco case.npz", "--mujoco: only scenes with 'model'", BALL_AT "3]}\nsimulate: {integrator: lgvci}\n"},
    {"simulate block.yaml --integrator inclusion --mujoco case.txt", "--mujoco: 'case.txt' does not end in .npz or .csv", NULL},
    {"simulate block.yaml --integrator inclusion --mujoco nowhere/case.npz", "nowhere/case.npz: the file cannot be written", NULL},
    {"simulate block.yaml --integrator inclusion --window 1:2", "--window belongs to --figures or --animate", NULL},
    {"simulate block.yaml --integrator inclusion --views top", "--views belongs to --figures or --animate", NULL},
    {"simulate block.yaml --integrator inclusion --size page", "--size belongs to --figures", NULL},
    {"simulate block.yaml --integrator inclusion --figures case --views top,left", "--views: 'left' is not one of: side", NULL},
    {"simulate block.yaml --integrator inclusion --figures case --views top,top", "--views: 'top' stands there twice", NULL},
    {"simulate block.yaml --integrator inclusion --figures case --size big", "--size: ", NULL},
    {"simulate block.yaml --integrator inclusion --animate case.avi", "--animate: 'case.avi' does not end in .gif or .mp4", NULL},
    {"simulate block.yaml --integrator inclusion --animate nowhere/case.gif", "--animate: nowhere/", NULL},
    {"simulate block.yaml --integrator inclusion --times 1 ", "--times belongs to --figures", NULL},
    {"simulate block.yaml --integrator inclusion --figures case --window 2:1", "--window: '2:1' is not A:B", NULL},
    {"simulate block.yaml --integrator inclusion --figures case --window 2", "--window: '2' is not A:B", NULL},
    {"simulate block.yaml --integrator inclusion --figures case --window nan:2", "--window: 'nan:2' is not A:B", NULL},
    {"simulate block.yaml --integrator inclusion --figures case --times 1,-1", "--times: '-1' is not a time of 0 or more", NULL},
    {"simulate block.yaml --integrator inclusion --figures case --times ,", "--times: ',' has no time", NULL},
    {"simulate block.yaml --integrator inclusion --record-members -o case.h5", "--record-members needs --ensemble N", NULL},
    {"simulate block.yaml --integrator inclusion --record-members --ensemble 2", "and --output FILE", NULL},
};

static void bad_input_is_refused_in_one_line(void **state) { check_refusals(*state, refusals, sizeof refusals / sizeof *refusals); }

// A run that is killed leaves no file of its series where files are looked for, and the next run for the same name removes what is left.
// One that is interrupted has a whole series of what it did.
static void killed_series_leave_nothing(void **state) {
    char scene[PATH_SIZE], line[2 * PATH_SIZE];
    snprintf(line, sizeof line,
             "\"$carom\" simulate %s --duration 100 --vtk k.vtk > log 2>&1 & id=$!\n"
             "for i in $(seq 600); do ls .k.vtk.*/k-000001.vtk > log 2>&1 && break; sleep 0.1; done\n"
             "kill -9 $id; wait $id; ls -d .k.vtk.* > log || exit 1\n"
             "[ -z \"$(ls k* 2> log)\" ] && rm log",
             motion_path("rack", scene));
    run_quietly(*state, 0, line);
    json_decref(ask(*state, "simulate", scene, "--duration", "0.02", "--vtk", "k.vtk"));
    run_quietly(*state, 0,
                "[ \"$(ls -d k* .k* 2> log | tr '\\n' ' ')\" = 'k-000000.vtk k-000001.vtk k-000002.vtk k.vtk k.vtk.series ' ] && rm k*");
    json_t *stopped = stop(&(request){.directory = *state,
                                      .arguments = WORDS("simulate", motion_path("pendulum", scene), "--duration", "1e6", "--every", "1000",
                                                         "--vtk", "k.vtk", "--json")},
                           SIGTERM);
    assert_string_equal(text(stopped, "verdict"), "interrupted");
    json_decref(stopped);
    run_quietly(*state, 0, "[ $(ls -A k-*.vtk | wc -l) = $(grep -c '\"name\"' k.vtk.series) ] && [ -z \"$(ls -d .k* 2> log)\" ]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(states_go_to_mujoco, set_up, tear_down),
        cmocka_unit_test_setup_teardown(printed_lines_play_the_states, set_up, tear_down),
        cmocka_unit_test_setup_teardown(motions_go_on_from_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_motion_goes_to_vtk, set_up, tear_down),
        cmocka_unit_test_setup_teardown(vtk_goes_to_a_directory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(killed_series_leave_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(members_record_their_paths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pictures_show_what_is_asked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(motions_become_films, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_input_is_refused_in_one_line, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, find_command, NULL);
}
