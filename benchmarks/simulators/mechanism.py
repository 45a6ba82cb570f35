# SPDX-License-Identifier: Apache-2.0
"""A mechanism at the instant of an impact, in words that every simulator knows: bodies, joints and touching points.

All vectors are in world axes and at the frozen position, so that all joints stand at zero and all frames are parallel to the world's.
"""
from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

WORLD = -1
# The mass of a link that only joins two joints, as a share of its body's: far below every error that is told.
LINK_SHARE = 1e-9
# Of shapes that touch, as a share of the length of the mechanism: above round-off, and too little to be pushed apart.
OVERLAP = 1e-12


@dataclass(frozen=True)
class Joint:
    """slide, hinge, or free (six velocities: those of the mass centre, then the angular ones, along the world's axes)."""

    kind: str
    axis: np.ndarray
    anchor: np.ndarray

    @property
    def size(self) -> int:
        return 6 if self.kind == "free" else 1


@dataclass(frozen=True)
class Body:
    """A rigid body: inertia about its mass centre. Its joints follow each other from its parent to it; parent WORLD is the world."""

    name: str
    mass: float
    inertia: np.ndarray
    center: np.ndarray
    parent: int
    joints: tuple[Joint, ...]


@dataclass(frozen=True)
class Contact:
    """Two bodies that touch at a point; the normal points from the first to the second."""

    name: str
    first: int
    second: int
    point: np.ndarray
    normal: np.ndarray
    tangents: np.ndarray
    friction: float
    restitution: float = 0.0


@dataclass(frozen=True)
class Link:
    """One joint and what it moves: a body, or a nearly massless link within a chain of several joints."""

    name: str
    parent: int
    joint: Joint
    origin: np.ndarray
    mass: float
    inertia: np.ndarray
    center: np.ndarray


@dataclass(frozen=True)
class Mechanism:
    """Bodies (parents first), contacts, and the velocity before the impact, joint by joint in the order of the bodies."""

    name: str
    bodies: tuple[Body, ...]
    contacts: tuple[Contact, ...]
    velocity: np.ndarray
    group: str = field(default="")

    def columns(self) -> list[list[int]]:
        """For each body the columns of its own joints."""
        starts = np.cumsum([0] + [sum(joint.size for joint in body.joints) for body in self.bodies])
        return [list(range(start, end)) for start, end in zip(starts, starts[1:])]

    def jacobians(self) -> np.ndarray:
        """Linear velocity of the mass centre and angular velocity of each body by all velocities, (bodies, 6, nv)."""
        jacobians = np.zeros((len(self.bodies), 6, len(self.velocity)))
        columns = self.columns()
        for b, body in enumerate(self.bodies):
            if body.parent != WORLD:
                # The parent carries the body: w x (distance of the mass centres) is added.
                carried = jacobians[body.parent]
                jacobians[b] = carried
                jacobians[b, :3] += np.cross(carried[3:].T, body.center - self.bodies[body.parent].center).T
            column = iter(columns[b])
            for joint in body.joints:
                if joint.kind == "free":
                    for row in range(6):
                        jacobians[b, row, next(column)] = 1.0
                elif joint.kind == "slide":
                    jacobians[b, :3, next(column)] = joint.axis
                else:
                    k = next(column)
                    jacobians[b, :3, k] = np.cross(joint.axis, body.center - joint.anchor)
                    jacobians[b, 3:, k] = joint.axis
        return jacobians

    def mass_matrix(self) -> np.ndarray:
        """M = sum over the bodies of J' diag(m, I) J."""
        total = np.zeros((len(self.velocity),) * 2)
        for body, jacobian in zip(self.bodies, self.jacobians()):
            total += body.mass * jacobian[:3].T @ jacobian[:3] + jacobian[3:].T @ body.inertia @ jacobian[3:]
        return total

    def contact_rows(self) -> np.ndarray:
        """J, per contact the normal, then the tangents."""
        jacobians = self.jacobians()

        def point_rows(b: int, point: np.ndarray) -> np.ndarray:
            if b == WORLD:
                return np.zeros((3, len(self.velocity)))
            return jacobians[b, :3] + np.cross(jacobians[b, 3:].T, point - self.bodies[b].center).T

        rows = []
        for contact in self.contacts:
            relative = point_rows(contact.second, contact.point) - point_rows(contact.first, contact.point)
            rows += [contact.normal @ relative, *(contact.tangents @ relative)]
        return np.array(rows)

    @property
    def tangent_dim(self) -> int:
        return len(self.contacts[0].tangents)

    def impact(self):
        """The same as an impact of carom."""
        import carom

        rows = self.contact_rows().reshape(len(self.contacts), 1 + self.tangent_dim, -1)
        return carom.Impact(
            self.mass_matrix(),
            rows[:, 0],
            rows[:, 1:].reshape(-1, rows.shape[2]),
            [contact.friction for contact in self.contacts],
            self.velocity,
            restitution=[contact.restitution for contact in self.contacts],
            names=[contact.name for contact in self.contacts],
        )

    def length(self) -> float:
        """What sizes of touching shapes are measured by: the mean distance of contacts from the mass centres of their bodies."""
        distances = [
            np.linalg.norm(contact.point - self.bodies[b].center)
            for contact in self.contacts
            for b in (contact.first, contact.second)
            if b != WORLD
        ]
        return float(np.mean(distances))

    def links(self) -> tuple[list[Link], list[int]]:
        """One link for each joint, and for each body its own link. A free body's frame stands at its mass centre."""
        links: list[Link] = []
        own: list[int] = []
        size = self.length()
        for body in self.bodies:
            parent = WORLD if body.parent == WORLD else own[body.parent]
            for k, joint in enumerate(body.joints):
                last = k == len(body.joints) - 1
                origin = body.center if joint.kind == "free" else joint.anchor
                share = 1.0 if last else LINK_SHARE
                inertia = body.inertia if last else LINK_SHARE * body.mass * size**2 * np.eye(3)
                center = body.center if last else origin
                links.append(Link(f"{body.name}_{k}", parent, joint, origin, share * body.mass, inertia, center))
                parent = len(links) - 1
            own.append(parent)
        return links, own

    def enlarged(self, factor: float) -> tuple[Mechanism, np.ndarray]:
        """All lengths times a factor, with the same masses and contact velocities, and by what its velocities are to be multiplied.

        Linear velocities stay, angular ones are divided by the factor, and moments of inertia grow with its square: J M^-1 J' and J v are the
        same, to the contacts it is the same impact. But what moves by a given length during it turns nothing: the impact of a simulator whose
        contacts need motion is frozen.
        """
        scales: list[float] = []
        bodies = []
        for body in self.bodies:
            joints = tuple(replace(joint, anchor=factor * joint.anchor) for joint in body.joints)
            for joint in joints:
                scales += {"free": [1, 1, 1, factor, factor, factor], "slide": [1], "hinge": [factor]}[joint.kind]
            bodies.append(replace(body, joints=joints, center=factor * body.center, inertia=factor**2 * body.inertia))
        contacts = tuple(replace(contact, point=factor * contact.point) for contact in self.contacts)
        scales = np.array(scales, float)
        return replace(self, bodies=tuple(bodies), contacts=contacts, velocity=self.velocity / scales), scales

    def reversed_contacts(self) -> Mechanism:
        """The same with its contacts listed the other way round."""
        return replace(self, contacts=self.contacts[::-1])

    def reversed_bodies(self) -> tuple[Mechanism, np.ndarray]:
        """The same with siblings listed the other way round, and where each of its velocities stands in this one."""
        order: list[int] = []

        def visit(parent: int) -> None:
            for b in reversed(range(len(self.bodies))):
                if self.bodies[b].parent == parent:
                    order.append(b)
                    visit(b)

        visit(WORLD)
        place = {old: new for new, old in enumerate(order)} | {WORLD: WORLD}
        bodies = tuple(replace(self.bodies[b], parent=place[self.bodies[b].parent]) for b in order)
        contacts = tuple(replace(c, first=place[c.first], second=place[c.second]) for c in self.contacts)
        columns = self.columns()
        index = np.array([k for b in order for k in columns[b]])
        return replace(self, bodies=bodies, contacts=contacts, velocity=self.velocity[index]), index

    def mirrored(self) -> tuple[Mechanism, np.ndarray]:
        """Its image in the plane x = 0, and the signs by which velocities of one become those of the other.

        Axes of hinges are axial vectors, so that the velocities of joints stay; those of free bodies change as vectors do.
        """
        mirror = np.array([-1.0, 1.0, 1.0])
        signs: list[float] = []
        bodies = []
        for body in self.bodies:
            joints = []
            for joint in body.joints:
                axial = joint.kind == "hinge"
                joints.append(Joint(joint.kind, -mirror * joint.axis if axial else mirror * joint.axis, mirror * joint.anchor))
                signs += [*mirror, *-mirror] if joint.kind == "free" else [1.0]
            inertia = body.inertia * np.outer(mirror, mirror)
            bodies.append(replace(body, joints=tuple(joints), center=mirror * body.center, inertia=inertia))
        contacts = tuple(replace(c, point=mirror * c.point, normal=mirror * c.normal, tangents=c.tangents * mirror) for c in self.contacts)
        return replace(self, bodies=tuple(bodies), contacts=contacts, velocity=self.velocity * signs), np.array(signs)


@dataclass(frozen=True)
class Pad:
    """A flat box on a body, with one face through the points of some contacts, and balls on other bodies that touch it there.

    center, turn
        Of the box; the third column of the rotation is the outward normal.
    half
        Half of its sides.
    balls
        (contact, body, centre) of each ball.
    """

    body: int
    center: np.ndarray
    turn: np.ndarray
    half: np.ndarray
    radius: float
    balls: tuple[tuple[int, int, np.ndarray], ...]


def touching_shapes(mechanism: Mechanism, overlap: float = 0.0) -> list[Pad]:
    """Shapes whose only contacts are those of the mechanism, for simulators that look for contacts themselves.

    A ball has one point against a flat face, so that no choice of contact points is left to the simulator. Contacts of one body that share
    a face share a box. Small balls keep the material point while a body turns. They overlap the boxes by a share of the length of the mechanism,
    for simulators that see nothing where shapes just touch.
    """
    size = mechanism.length()
    radius = 0.05 * size
    faces: dict[tuple, list[int]] = {}
    for k, contact in enumerate(mechanism.contacts):
        height = contact.normal @ contact.point
        key = (contact.first, contact.second if contact.first != WORLD else WORLD, *np.round(contact.normal, 6), round(height / size, 6))
        faces.setdefault(key, []).append(k)
    pads = []
    for members in faces.values():
        contacts = [mechanism.contacts[k] for k in members]
        normal = contacts[0].normal
        across = np.eye(3)[np.argmin(np.abs(normal))]
        first = np.cross(across, normal)
        first /= np.linalg.norm(first)
        turn = np.column_stack([first, np.cross(normal, first), normal])
        local = np.array([c.point for c in contacts]) @ turn
        low, high = local.min(axis=0), local.max(axis=0)
        half = np.array([*((high - low)[:2] / 2 + 0.3 * size), 0.2 * size])
        middle = turn @ ((low + high) / 2) - half[2] * normal
        balls = tuple((k, c.second, c.point + (radius - overlap * size) * normal) for k, c in zip(members, contacts))
        pads.append(Pad(contacts[0].first, middle, turn, half, radius, balls))
    return pads
