// SPDX-License-Identifier: Apache-2.0
/// @file
/// Rigid bodies: shapes and their mass properties, support points, balls, bodies under potentials. In libcarom-dynamics.
#ifndef CAROM_BODIES_H
#define CAROM_BODIES_H

#include "carom/arena.h"
#include "carom/solid.h"
#include "carom/system.h"

CAROM_API_BEGIN

// ----------------------------------------------------------------------------------------------------------------------- shapes and bodies

/// Largest number of ellipsoids, of other parts, of vertices and of triangles of one body.
enum { CAROM_MAX_ELLIPSOIDS = 256, CAROM_MAX_PARTS = 64, CAROM_MAX_VERTICES = 1000000, CAROM_MAX_TRIANGLES = 4000000 };

typedef enum carom_combine {
    CAROM_COMBINE_UNION,         ///< of any number of ellipsoids or parts, which need not meet
    CAROM_COMBINE_INTERSECTION,  ///< of one or two ellipsoids, or of any number of parts
} carom_combine;

/// A convex part of a shape in a frame of its own: an ellipsoid, or the convex hull of points. Arrays are borrowed.
typedef struct carom_part {
    const double *semiaxes;  ///< [3], > 0, of an ellipsoid [m]; NULL: the hull of the vertices
    int vertices;            ///< at least 4, not all in one plane
    const double *vertex;    ///< [vertices x 3] [m]
    double center[3];        ///< origin of the part's frame in that of the body [m]
    double rotation[9];      ///< part to body, a rotation matrix
} carom_part;

/// A shape in the frame of its body: ellipsoids with axes along the frame's, or the convex hull of points, or convex parts. Arrays are
/// borrowed. A plane touches a body where it touches its convex hull, so that the hull is all that contacts need of other shapes, too.
typedef struct carom_shape_data {
    int ellipsoids;
    const double *semiaxes;  ///< [ellipsoids x 3], > 0 [m]
    const double *centers;   ///< [ellipsoids x 3] [m]; NULL: the origin
    carom_combine combine;
    int vertices;            ///< instead of ellipsoids: at least 4, not all in one plane
    const double *vertex;    ///< [vertices x 3] [m]
    int triangles;           ///< of a surface through the vertices, closed and turned the same way, convex or not; 0: that of their hull
    const int *triangle;     ///< [triangles x 3] its mass properties are those of the body
    int parts;               ///< instead of ellipsoids and vertices
    const carom_part *part;  ///< [parts]
    double rounding;         ///< the shape is everything within this distance of the above, >= 0 [m]
} carom_shape_data;

/// Volume, centroid and inertia of a shape, at uniform density.
typedef struct carom_mass_properties {
    bool known;          ///< false where they were not computed: for rounded ellipsoids and parts they cannot be, for more than 16 of them,
                         ///< parts with more than 1000 triangles, and rounded hulls of more than 4096 vertices they are not
    double volume;       ///< [m^3]
    double centroid[3];  ///< [m]
    double inertia[9];   ///< about the centroid, divided by the mass [m^2]
} carom_mass_properties;

/// @return CAROM_BAD_INPUT with a message that begins with the key of the scene that is wrong ("semiaxes: ...", "vertices: ...")
/// Cost: a hull and sums over its faces; for several ellipsoids or parts a nested adaptive quadrature of relative error 1e-10, 0.1 s for
/// four, 3 s for sixteen.
carom_status carom_shape_mass(const carom_shape_data *shape, carom_mass_properties *mass, carom_error *error);

/// A function on the points of a grid, negative inside a body and positive outside: a signed distance, or anything that is zero on the
/// surface and smooth near it.
typedef struct carom_level_table {
    int counts[3];         ///< points along the axes, 3 to CAROM_MAX_LEVELS
    double origin[3];      ///< of the first point [m]
    double spacing[3];     ///< > 0 [m]
    const double *values;  ///< [counts[2] x counts[1] x counts[0]], the first axis fastest
} carom_level_table;

enum { CAROM_MAX_LEVELS = 256 };

/// The zero of a table, linear between its points: a closed surface of triangles, whose distance from the true one falls with the square of
/// the spacing where that is smooth, and with the spacing at edges.
/// @param arena  receives the arrays of the shape
/// @return CAROM_BAD_INPUT where nothing is inside, or the body reaches the edge of the table
carom_status carom_level_surface(const carom_level_table *table, carom_arena *arena, carom_shape_data *shape, carom_error *error);
/// The first part without the others (a complement), as such a surface.
/// @param resolution  cells along its longest side, 4 to CAROM_MAX_LEVELS - 3
carom_status carom_shape_subtract(const carom_shape_data *parts, int resolution, carom_arena *arena, carom_shape_data *shape,
                                  carom_error *error);
/// The polyhedron u.rho <= h of a table of supports.
/// @param support  [directions x 4] u of any length, h for it [m]
/// @return CAROM_BAD_INPUT where it is empty or not bounded
carom_status carom_support_shape(int directions, const double *support, carom_arena *arena, carom_shape_data *shape, carom_error *error);

/// A rigid body with its shape, immutable: threads may share it. Its frame has the centre of mass as origin.
typedef struct carom_body carom_body;

typedef struct carom_body_data {
    double mass;             ///< > 0 [kg]
    const double *inertia;   ///< [3 x 3] about the centre of mass, positive definite [kg m^2]; NULL: that of uniform density
    carom_shape_data shape;  ///< about the centre of mass; without `inertia` anywhere: it is moved until its centroid is the origin
} carom_body_data;

/// @return CAROM_BAD_INPUT naming the key: a number that is not finite, mass <= 0, an inertia that is not symmetric (1e-9 of its largest
///         entry), not positive definite or no mass distribution's (principal moments J1 <= J2 + J3), an impossible shape
carom_status carom_body_create(const carom_body_data *data, carom_body **body, carom_error *error);
void carom_body_free(carom_body *body);
double carom_body_mass(const carom_body *body);
/// J, [3 x 3] about the centre of mass [kg m^2].
const double *carom_body_inertia(const carom_body *body);
/// Of the shape as it was given; not known where an inertia was given: carom_shape_mass tells what it would be.
const carom_mass_properties *carom_body_uniform(const carom_body *body);
/// A bound of the distance of the body's points from the centre of mass [m].
double carom_body_radius(const carom_body *body);
/// Does the convex hull of the body hold its centre of mass?
bool carom_body_holds_center(const carom_body *body);

/// min over the body of u.rho for a unit vector u of the body frame, and the point rho that attains it (of smallest index among equals).
double carom_body_support(const carom_body *body, const double u[3], double rho[3]);
/// Points that may touch a plane at once: ellipsoids of a union, vertices; of an intersection with an ellipsoid the deepest point, and
/// eight around a flat face.
int carom_body_features(const carom_body *body);
/// The same minimum over one of them.
double carom_body_feature_support(const carom_body *body, int feature, const double u[3], double rho[3]);

/// Convex parts to be drawn: those of a union; 1 for an intersection and for a polyhedron.
int carom_body_parts(const carom_body *body);
double carom_body_part_support(const carom_body *body, int part, const double u[3], double rho[3]);
/// The same parts as solids at a place. An intersection of two ellipsoids is the hull of CAROM_BODY_DIRECTIONS of its support points.
/// @param rotation  body to world, [3 x 3]
/// @param arena     that the solids and their vertices belong to
carom_status carom_body_solids(const carom_body *body, const double position[3], const double rotation[9], carom_arena *arena,
                               carom_solids *solids, carom_error *error);
enum { CAROM_BODY_DIRECTIONS = 2000 };

// -------------------------------------------------------------------------------------------------------------------- a body above a plane

typedef struct carom_body_state {
    double position[3];          ///< of the centre of mass [m]
    double attitude[9];          ///< R, body to inertial, [3 x 3], rotation matrix
    double momentum[3];          ///< inertial frame [N s]
    double angular_momentum[3];  ///< about the centre of mass, body frame [N m s]
} carom_body_state;

/// One body above one plane, in uniform gravity along -e3.
typedef struct carom_body_motion {
    const carom_body *body;
    double gravity;          ///< >= 0 [m/s^2]
    double plane_normal[3];  ///< any length, e3 component > 0; the body lives where normal.z + offset > 0
    double plane_offset;
    carom_body_state initial;
} carom_body_motion;

// ----------------------------------------------------------------------------------------------------------------- two bodies at one point

/// A body at the instant it touches another at one point, in world axes. Arrays are borrowed.
typedef struct carom_touching_body {
    bool fixed;                      ///< it has no velocities, and nothing else counts
    double mass;                     ///< > 0 [kg]
    const double *inertia;           ///< [3 x 3] about the centre of mass [kg m^2]
    const double *arm;               ///< [3] from the centre of mass to the point [m]
    const double *velocity;          ///< [3] of the centre of mass [m/s]; NULL: 0
    const double *angular_velocity;  ///< [3] [rad/s]; NULL: 0
} carom_touching_body;

typedef struct carom_two_bodies_data {
    carom_touching_body body[2];  ///< at least one of them free
    int tangent_dim;              ///< 1 planar, 2 spatial
    double directions[3][3];      ///< unit: the normal, from the first body to the second, then the tangents
    double friction, restitution;
} carom_two_bodies_data;

/// The impact of two bodies. Its velocities are those of the free bodies, in order: of the centre of mass, then angular. Contact velocities
/// are those of the second body minus those of the first.
/// @return CAROM_BAD_INPUT when both are fixed, and as carom_impact_create
carom_status carom_two_bodies_create_impact(const carom_two_bodies_data *data, carom_impact **impact, carom_error *error);

// ----------------------------------------------------------------------------------------------------------------------------- many bodies

/// A free body with a spherical surface. With three equal moments it is what the explicit maps of the integrator `rodrigues` are for.
typedef struct carom_particle {
    double mass;                 ///< > 0 [kg]
    double inertia[3];           ///< principal moments about the centre of mass, along the axes of the body frame, > 0 [kg m^2]
    double radius;               ///< >= 0 [m]
    double position[3];          ///< of the centre of mass [m]
    double attitude[4];          ///< unit quaternion w, x, y, z, body to inertial
    double velocity[3];          ///< [m/s]
    double angular_velocity[3];  ///< inertial frame [rad/s]
} carom_particle;

typedef enum carom_potential_type {
    CAROM_POTENTIAL_GRAVITY,      ///< U = -m a.x
    CAROM_POTENTIAL_OFFSET_MASS,  ///< U = -m g e3.R rho (Baker & Gonzalez, eq. 39): a pendulum whose stable direction is +e3
    CAROM_POTENTIAL_DIPOLE,       ///< U = -mu (R d).(B + G x) + k |x|^2/2 + m g x3
    CAROM_POTENTIAL_BONDS,        ///< bending, stretching and shear of bonds between bodies (eqs. 44-55)
    CAROM_POTENTIAL_HERTZ,        ///< U = (2/5) K [1 - r/D]_+^(5/2) between bodies, and between bodies and planes (eqs. 56-58)
    CAROM_POTENTIAL_USER,         ///< what a callback says
} carom_potential_type;

/// The shear energy of a bond, U = Ks (1 - c)^2/2.
typedef enum carom_shear {
    CAROM_SHEAR_OBJECTIVE,  ///< c = (Ri n0 + Rj n0).n/2: rigid rotations of the pair cost nothing
    CAROM_SHEAR_PUBLISHED,  ///< c = (Ri n0).(Rj n), eq. 53: they do, and the total angular momentum is not kept
} carom_shear;

typedef struct carom_bonds {
    int count;
    const int *pairs;   ///< [count x 2], indices of different bodies
    double Km, Ka, Ks;  ///< bending, axial and shear stiffness, >= 0 [J]
    carom_shear shear;
    double break_force;   ///< at the end of a step with a larger force between its bodies a bond breaks [N]; 0: never
    double break_energy;  ///< the same by its energy [J]
} carom_bonds;

/// Adds forces [bodies x 3, N], torques (inertial frame) [bodies x 3, N m] and the energy [J] of a potential of positions [bodies x 3] and
/// attitudes [bodies x 4], w x y z: F = -dU/dx, and dU = -T.eta for a small rotation by eta. Called from one thread.
typedef void carom_potential_callback(void *user, int bodies, const double *positions, const double *attitudes, double *forces,
                                      double *torques, double *energy);

typedef struct carom_potential {
    carom_potential_type type;
    union {
        double acceleration[3];  ///< of gravity [m/s^2]
        struct {
            double gravity, offset[3];  ///< g [m/s^2], rho in the body frame [m]
        } offset_mass;
        struct {
            double moment, direction[3], field[3], gradient[9], trap, gravity;  ///< mu, unit d (body frame), B, G [3 x 3], k, g
        } dipole;
        carom_bonds bonds;  ///< unstretched at the initial positions, with attitudes 1
        struct {
            double Kpp, Kpw;      ///< between bodies; between bodies and planes; >= 0 [J]
            int planes;           ///< bodies touch when they are nearer to a plane than their radius
            const double *plane;  ///< [planes x 4]: normal of any length, offset; normal.x + offset > 0 on the bodies' side
        } hertz;
        struct {
            carom_potential_callback *evaluate;
            void *user;
        } callback;
    };
} carom_potential;

/// What two surfaces do to each other in an impact.
typedef enum carom_surface {
    CAROM_SURFACE_SMOOTH,   ///< no tangential impulse
    CAROM_SURFACE_ROUGH,    ///< the tangential velocity is reversed: perfectly rough, without loss
    CAROM_SURFACE_COULOMB,  ///< Coulomb friction followed through the impact: carom_contact_solve
} carom_surface;

/// Names of these, NULL-terminated.
extern const char *const carom_surface_names[];

typedef struct carom_surface_law {
    carom_surface surface;
    double restitution;  ///< from 0 to 1
    double friction;     ///< >= 0; of CAROM_SURFACE_COULOMB
} carom_surface_law;

/// An unmoved plane that bodies bounce on: normal.x + offset > 0 on their side.
typedef struct carom_wall {
    double normal[3];  ///< of any length
    double offset;
    carom_surface_law law;
} carom_wall;

/// Bodies under potentials, between walls. Everything is borrowed.
typedef struct carom_bodies_motion {
    int bodies;
    const carom_particle *body;  ///< [bodies]
    int potentials;
    const carom_potential *potential;
    int walls;
    const carom_wall *wall;
    const carom_surface_law *collisions;  ///< of bodies with each other; NULL: they pass through each other
} carom_bodies_motion;

// ----------------------------------------------------------------------------------------------------------------------------------- balls

/// Balls without friction and spin, on a line or in a plane. Arrays are borrowed.
typedef struct carom_ball_data {
    int count, dim;            ///< dim 1: on a line, 2: in a plane
    double radius;             ///< of all balls, where `radii` is NULL [m]
    const double *radii;       ///< [count], or NULL
    const double *masses;      ///< [count]
    const double *positions;   ///< [count x dim]
    const double *velocities;  ///< [count x dim]
    double gravity;            ///< along minus the last axis [m/s^2]
    double stiffness;          ///< of the springs that pull each ball to its place of rest [N/m]
    const double *rest;        ///< [count x dim] places of rest; NULL: no springs
} carom_ball_data;

/// Pairs of balls.
typedef struct carom_ball_pairs {
    int count;
    int pair[CAROM_MAX_CONTACTS][2];
} carom_ball_pairs;

double carom_ball_radius(const carom_ball_data *data, int ball);
/// Between the centres of two balls.
double carom_ball_distance(const carom_ball_data *data, int i, int j);
/// The pairs that may ever touch: neighbours on a line, all in a plane.
/// @return false when they are more than CAROM_MAX_CONTACTS
bool carom_ball_neighbours(const carom_ball_data *data, carom_ball_pairs *pairs);

/// The balls as a system whose contacts are these pairs; its coordinates are theirs, ball after ball.
/// @param system  to be freed by carom_ball_free_system; keeps copies of the data
carom_status carom_ball_create_system(const carom_ball_data *data, const carom_ball_pairs *pairs, carom_system **system,
                                      carom_error *error);
void carom_ball_free_system(carom_system *system);

CAROM_API_END

#endif
