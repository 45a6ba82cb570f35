# SPDX-License-Identifier: Apache-2.0
"""DART: generalised coordinates, an LCP for contact impulses in every step."""
from dataclasses import replace

import dartpy
import numpy as np

from simulators.mechanism import OVERLAP, WORLD, touching_shapes

NAME = "DART"
ABOUT = "animation and robotics: velocities from an LCP with a friction pyramid in generalised coordinates; frozen"

SETTINGS = {
    "default": {},
    "dt 10 ms": {"dt": 1e-2},
    "dt 0.1 ms": {"dt": 1e-4},
    "matrix-free": {"matrix_free": True},
    "split impulse": {"split": True},
}
BOXES = ("default", "matrix-free")


def version():
    return dartpy.__version__


class Simulation:
    def __init__(self, mechanism, dt=1e-3, matrix_free=False, split=False):
        dynamics = dartpy.dynamics
        self.dt = dt
        self.world = dartpy.simulation.World("impact")
        self.world.setGravity([0, 0, 0])
        self.world.setTimeStep(dt)
        links, own = mechanism.links()
        self.skeleton, self.nodes = {}, []
        self.columns = []  # (skeleton, first coordinate, link)
        roots = []
        for i, link in enumerate(links):
            root = i if link.parent == WORLD else roots[link.parent]
            roots.append(root)
            skeleton = self.skeleton.setdefault(root, dynamics.Skeleton(link.name))
            parent = None if link.parent == WORLD else self.nodes[link.parent]
            start = np.zeros(3) if link.parent == WORLD else links[link.parent].origin
            kind = {"free": "Free", "slide": "Prismatic", "hinge": "Revolute"}[link.joint.kind]
            first = skeleton.getNumDofs()
            joint, node = getattr(skeleton, f"create{kind}JointAndBodyNodePair")(parent)
            joint.setName(link.name)
            node.setName(link.name)
            if kind != "Free":
                joint.setAxis(link.joint.axis)
            joint.setTransformFromParentBodyNode(_translation(link.origin - start))
            inertia = dynamics.Inertia(link.mass, link.center - link.origin, link.inertia)
            node.setInertia(inertia)
            self.nodes.append(node)
            self.columns.append((root, first, link))
        for p, pad in enumerate(touching_shapes(mechanism, overlap=OVERLAP)):
            if len({mechanism.contacts[k].friction for k, _, _ in pad.balls}) > 1:
                raise ValueError("has one friction for each face")
            contact = mechanism.contacts[pad.balls[0][0]]
            if pad.body == WORLD:
                ground = dynamics.Skeleton(f"pad{p}")
                _, holder = ground.createWeldJointAndBodyNodePair()
                ground.setMobile(False)
                self.world.addSkeleton(ground)
                origin = np.zeros(3)
            else:
                holder, origin = self.nodes[own[pad.body]], links[own[pad.body]].origin
            place = dartpy.math.Isometry3()
            place.set_rotation(pad.turn)
            place.set_translation(pad.center - origin)
            # The smaller friction counts, and the product of restitutions.
            self._add(holder, dynamics.BoxShape(2 * pad.half), place, replace(contact, restitution=1.0))
            for k, b, center in pad.balls:
                one = mechanism.contacts[k]
                place = _translation(center - links[own[b]].origin)
                self._add(self.nodes[own[b]], dynamics.SphereShape(pad.radius), place, one)
        for root, skeleton in self.skeleton.items():
            self.world.addSkeleton(skeleton)
        self.world.setCollisionDetector(dartpy.collision.DARTCollisionDetector())
        solver = self.world.getConstraintSolver()
        solver.setSplitImpulseEnabled(split)
        if matrix_free:
            # Projected Gauss-Seidel without the matrix, from one row on.
            options = solver.getMatrixFreeContactSolverOptions()
            options.mEnabled, options.mMinRows = True, 1
            solver.setMatrixFreeContactSolverOptions(options)
        self.positions = {root: skeleton.getPositions() for root, skeleton in self.skeleton.items()}
        velocity = iter(mechanism.velocity)
        for root, first, link in self.columns:
            values = [next(velocity) for _ in range(link.joint.size)]
            if link.joint.kind == "free":
                # DART has the angular velocity first.
                values = values[3:] + values[:3]
            for i, value in enumerate(values):
                self.skeleton[root].setVelocity(first + i, value)

    def _add(self, node, shape, place, contact):
        shape_node = node.createShapeNode(shape)
        shape_node.createCollisionAspect()
        shape_node.createDynamicsAspect()
        shape_node.setRelativeTransform(place)
        aspect = shape_node.getDynamicsAspect()
        aspect.setFrictionCoeff(contact.friction)
        aspect.setRestitutionCoeff(contact.restitution)

    def step(self):
        self.world.step(True)
        for root, skeleton in self.skeleton.items():
            velocities = skeleton.getVelocities()
            skeleton.setPositions(self.positions[root])
            skeleton.setVelocities(velocities)

    def velocity(self):
        velocity = []
        for root, first, link in self.columns:
            values = list(self.skeleton[root].getVelocities()[first : first + link.joint.size])
            velocity += values[3:] + values[:3] if link.joint.kind == "free" else values
        return np.array(velocity)


def _translation(vector):
    place = dartpy.math.Isometry3()
    place.set_translation(vector)
    return place
