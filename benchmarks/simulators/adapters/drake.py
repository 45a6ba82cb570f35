# SPDX-License-Identifier: Apache-2.0
"""Drake: discrete MultibodyPlant with point contact, and its three families of contact models: SAP, lagged and similar, TAMSI."""
import numpy as np
from importlib.metadata import version as _version

from pydrake.geometry import (
    AddContactMaterial,
    Box,
    CollisionFilterDeclaration,
    GeometrySet,
    ProximityProperties,
    Sphere,
)
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody.plant import AddMultibodyPlant, CoulombFriction, MultibodyPlantConfig
from pydrake.multibody.tree import (
    FixedOffsetFrame,
    PrismaticJoint,
    RevoluteJoint,
    RotationalInertia,
    SpatialInertia,
)
from pydrake.multibody.math import SpatialVelocity
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder

from simulators.mechanism import WORLD, touching_shapes

NAME = "Drake"
ABOUT = "design and analysis of robots: compliant contact with regularised friction, solved as one convex problem in every step; moves during the impact"

SETTINGS = {
    "default": {},
    "SAP": {"model": "sap"},
    "similar": {"model": "similar"},
    "TAMSI": {"model": "tamsi"},
    "dt 5 ms": {"dt": 5e-3},
    "dt 0.1 ms": {"dt": 1e-4},
    "SAP, dt 0.1 ms": {"model": "sap", "dt": 1e-4},
    "stiff, dt 0.2 ms": {"stiffness": 1e7, "dt": 2e-4},
    "dissipation 1000 s/m": {"dissipation": 1e3},
    "soft": {"stiffness": 1e4},
}

# Where contacts are elastic, time step and stiffness are others, and most of these are the same.
ELASTIC = ("default", "SAP")
BOXES = ("default", "SAP", "dissipation 1000 s/m")


def version():
    return _version("drake")


class Simulation:
    def __init__(self, mechanism, dt=1e-3, model="lagged", stiffness=None, dissipation=None):
        elastic = any(contact.restitution == 1 for contact in mechanism.contacts)
        if any(0 < contact.restitution < 1 for contact in mechanism.contacts):
            raise ValueError("has no coefficient of restitution")
        if elastic:
            # Springs without dissipation, so soft that steps of first order lose less than a thousandth of the energy.
            if model == "sap":
                raise ValueError("SAP has no restitution")
            dt, stiffness = 5e-6, 5e3
        self.dt = dt
        builder = DiagramBuilder()
        config = MultibodyPlantConfig(
            time_step=dt,
            contact_model="point",
            discrete_contact_approximation=model,
        )
        plant, scene_graph = AddMultibodyPlant(config, builder)
        plant.mutable_gravity_field().set_gravity_vector([0, 0, 0])
        links, own = mechanism.links()
        bodies, self.joints, self.free = [], [], []
        for link in links:
            center = link.center - link.origin
            about = RotationalInertia(*np.diag(link.inertia), link.inertia[0, 1], link.inertia[0, 2], link.inertia[1, 2])
            inertia = SpatialInertia.MakeFromCentralInertia(link.mass, center, about)
            body = plant.AddRigidBody(link.name, inertia)
            bodies.append(body)
            if link.joint.kind == "free":
                self.joints.append(None)
                continue
            parent = plant.world_body() if link.parent == WORLD else bodies[link.parent]
            start = np.zeros(3) if link.parent == WORLD else links[link.parent].origin
            frame = plant.AddFrame(FixedOffsetFrame(link.name + "_at", parent.body_frame(), RigidTransform(link.origin - start)))
            kind = PrismaticJoint if link.joint.kind == "slide" else RevoluteJoint
            self.joints.append(plant.AddJoint(kind(link.name, frame, body.body_frame(), link.joint.axis)))

        # Every pair of shapes that is not one of the contacts is filtered.
        shapes, touching = [], set()
        for p, pad in enumerate(touching_shapes(mechanism)):
            body = plant.world_body() if pad.body == WORLD else bodies[own[pad.body]]
            origin = np.zeros(3) if pad.body == WORLD else links[own[pad.body]].origin
            if len({mechanism.contacts[k].friction for k, _, _ in pad.balls}) > 1:
                raise ValueError("has one friction for each face")
            friction = mechanism.contacts[pad.balls[0][0]].friction
            properties = ProximityProperties()
            AddContactMaterial(
                dissipation=0.0 if elastic else dissipation,
                point_stiffness=stiffness,
                friction=CoulombFriction(friction, friction),
                properties=properties,
            )
            place = RigidTransform(RotationMatrix(pad.turn), pad.center - origin)
            face = plant.RegisterCollisionGeometry(body, place, Box(*(2 * pad.half)), f"pad{p}", properties)
            for k, b, center in pad.balls:
                place = RigidTransform(center - links[own[b]].origin)
                shapes.append(
                    (k, face, plant.RegisterCollisionGeometry(bodies[own[b]], place, Sphere(pad.radius), f"ball{k}", properties))
                )
        everything = {shape for _, face, ball in shapes for shape in (face, ball)}
        manager = scene_graph.collision_filter_manager()
        manager.Apply(CollisionFilterDeclaration().ExcludeWithin(GeometrySet(list(everything))))
        for _, face, ball in shapes:
            manager.Apply(CollisionFilterDeclaration().AllowBetween(GeometrySet([face]), GeometrySet([ball])))
        plant.Finalize()

        self.plant, self.links, self.bodies = plant, links, bodies
        diagram = builder.Build()
        self.context = diagram.CreateDefaultContext()
        own_context = plant.GetMyMutableContextFromRoot(self.context)
        column = 0
        for link, joint, body in zip(links, self.joints, bodies):
            if joint is None:
                plant.SetFreeBodyPose(own_context, body, RigidTransform(link.origin))
                linear, angular = mechanism.velocity[column : column + 3], mechanism.velocity[column + 3 : column + 6]
                plant.SetFreeBodySpatialVelocity(own_context, body, SpatialVelocity(w=angular, v=linear))
            elif link.joint.kind == "slide":
                joint.set_translation_rate(own_context, mechanism.velocity[column])
            else:
                joint.set_angular_rate(own_context, mechanism.velocity[column])
            column += link.joint.size
        self.simulator = Simulator(diagram, self.context)
        self.simulator.Initialize()
        self.steps = 0

    def step(self):
        self.steps += 1
        self.simulator.AdvanceTo(self.steps * self.dt)

    def velocity(self):
        context = self.plant.GetMyContextFromRoot(self.simulator.get_context())
        velocity = []
        for link, joint, body in zip(self.links, self.joints, self.bodies):
            if joint is None:
                spatial = self.plant.EvalBodySpatialVelocityInWorld(context, body)
                velocity += [*spatial.translational(), *spatial.rotational()]
            elif link.joint.kind == "slide":
                velocity.append(joint.get_translation_rate(context))
            else:
                velocity.append(joint.get_angular_rate(context))
        return np.array(velocity)
