// SPDX-License-Identifier: Apache-2.0
// What a result file says of its impact beside the matrices, written.
#include <stdlib.h>

#include "io/hdf5/support.h"
#include "io/result/description.h"

bool carom_result_put_description(hid_t group, const carom_impact_data *data) {
    const int nv = data->nv, m = data->contacts;
    bool written = true;
    if (data->velocity_names) {
        const carom_hdf5_texts names = {
            "velocity_names",    "", "what each velocity is of: columns of M, Jn and Jt, entries of v and v_plus", nv, 0,
            data->velocity_names};
        written = carom_hdf5_put_text_dataset(group, &names);
    }
    if (data->velocity_turns) {
        const char **units = calloc((size_t)nv, sizeof *units);
        for (int i = 0; i < nv && units; i++) units[i] = data->velocity_turns[i] ? "rad/s" : "m/s";
        const carom_hdf5_texts texts = {"velocity_units", "", "unit of each velocity", nv, 0, units};
        written = written && units && carom_hdf5_put_text_dataset(group, &texts);
        free(units);
    }
    const carom_contact_geometry *geometry = data->geometry;
    if (!geometry) return written;
    const carom_hdf5_matrix places[] = {
        {"contact_points", "m", "where the contacts are, world axes; NaN for joints at their stops", m, 3, geometry->points},
        {"contact_normals", "", "unit normals from the first body to the second, world axes", m, 3, geometry->normals},
        {"contact_tangents", "", "unit tangents, contact by contact, world axes", m * data->tangent_dim, 3, geometry->tangents},
        {"qpos", "", "the position at the impact, in the order of the model: m, rad, quaternions", geometry->nq, 0, geometry->qpos},
    };
    const carom_hdf5_texts bodies = {"contact_bodies", "", "the first and the second body of each contact", m, 2, geometry->bodies};
    const carom_hdf5_texts geoms = {"contact_geoms", "", "the geoms that touch; empty where a contact is not one of geoms", m, 2,
                                    geometry->geoms};
    written = written && carom_hdf5_put_matrices(group, geometry->nq ? 4 : 3, places);
    if (geometry->bodies) written = written && carom_hdf5_put_text_dataset(group, &bodies);
    if (geometry->geoms) written = written && carom_hdf5_put_text_dataset(group, &geoms);
    return written;
}
