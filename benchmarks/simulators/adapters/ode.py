# SPDX-License-Identifier: Apache-2.0
"""ODE: bodies in maximal coordinates, an LCP for impulses in every step. Called through its C library; contacts are given directly."""
import ctypes
import ctypes.util
import os

import numpy as np

from simulators.mechanism import WORLD

NAME = "ODE"
ABOUT = "games and robotics: velocities from an LCP with a friction box or pyramid; contacts are given to it as points; frozen"

SETTINGS = {
    "default": {},
    "dt 1 ms": {"dt": 1e-3},
    "dt 50 ms": {"dt": 5e-2},
    "friction box": {"pyramid": False},
    "quickstep": {"quick": 20},
    "quickstep 5": {"quick": 5},
    "quickstep 200": {"quick": 200},
    "CFM 1e-5": {"cfm": 1e-5},
    "quickstep, CFM 1e-5": {"quick": 20, "cfm": 1e-5},
}
BOXES = ("default", "quickstep")

_REAL = ctypes.c_double
_APPROXIMATE_BY_PYRAMID, _BOUNCE, _FIRST_DIRECTION = 0x7000, 0x004, 0x002
# Below this share of the mass of all bodies, one is massless.
_MASSLESS = 1e-9
_ROUND_OFF = 1e-7


class _Mass(ctypes.Structure):
    _fields_ = [("mass", _REAL), ("c", _REAL * 4), ("I", _REAL * 12)]


class _Surface(ctypes.Structure):
    _fields_ = [("mode", ctypes.c_int)] + [
        (name, _REAL)
        for name in "mu mu2 rho rho2 rhoN bounce bounce_vel soft_erp soft_cfm motion1 motion2 motionN slip1 slip2".split()
    ]


class _Point(ctypes.Structure):
    _fields_ = [
        ("pos", _REAL * 4),
        ("normal", _REAL * 4),
        ("depth", _REAL),
        ("g1", ctypes.c_void_p),
        ("g2", ctypes.c_void_p),
        ("side1", ctypes.c_int),
        ("side2", ctypes.c_int),
    ]


class _Contact(ctypes.Structure):
    _fields_ = [("surface", _Surface), ("geom", _Point), ("fdir1", _REAL * 4)]


def _load():
    path = ctypes.util.find_library("ode")
    if not path:
        raise ImportError("libode is not installed (Debian: libode8)")
    library = ctypes.CDLL(path)
    for name in "dWorldCreate dBodyCreate dJointGroupCreate dJointCreateHinge dJointCreateSlider dJointCreatePlane2D dJointCreateContact".split():
        getattr(library, name).restype = ctypes.c_void_p
    for name in ("dBodyGetLinearVel", "dBodyGetAngularVel"):
        getattr(library, name).restype = ctypes.POINTER(_REAL)
    library.dGetConfiguration.restype = ctypes.c_char_p
    if b"ODE_double_precision" not in library.dGetConfiguration():
        raise ImportError("libode is not built with double precision")
    library.dInitODE2(0)
    return library


_ode = None


def version():
    global _ode
    _ode = _ode or _load()
    # The library does not say its version; the name of its file does.
    with open("/proc/self/maps") as maps:
        return next(os.path.basename(line.split()[-1]) for line in maps if "libode" in line)


def _reals(*numbers):
    return [_REAL(float(x)) for x in numbers]


class Simulation:
    # ODE's joint for the plane takes that of x and y: the world is turned so that x and z become x and y.
    TURN = np.array([[1.0, 0, 0], [0, 0, 1.0], [0, -1.0, 0]])

    def __init__(self, mechanism, dt=1e-2, pyramid=True, quick=0, cfm=None):
        version()
        total = sum(body.mass for body in mechanism.bodies)
        if any(body.mass < _MASSLESS * total or np.linalg.eigvalsh(body.inertia)[0] <= 0 for body in mechanism.bodies):
            raise ValueError("needs bodies with mass and inertia")
        size = mechanism.length()
        if any(np.linalg.eigvalsh(body.inertia)[0] < _MASSLESS * body.mass * size**2 for body in mechanism.bodies):
            raise ValueError("needs bodies with mass and inertia")
        self.dt, self.quick, self.mechanism = dt, quick, mechanism
        self.world = ctypes.c_void_p(_ode.dWorldCreate())
        if cfm is not None:
            _ode.dWorldSetCFM(self.world, _REAL(cfm))
        _ode.dWorldSetQuickStepNumIterations(self.world, quick or 20)
        self.group = ctypes.c_void_p(_ode.dJointGroupCreate(0))
        self.bodies = []
        for body in mechanism.bodies:
            handle = ctypes.c_void_p(_ode.dBodyCreate(self.world))
            mass = _Mass()
            i = self.TURN @ body.inertia @ self.TURN.T
            _ode.dMassSetParameters(ctypes.byref(mass), *_reals(body.mass, 0, 0, 0, i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]))
            _ode.dBodySetMass(handle, ctypes.byref(mass))
            _ode.dBodySetGyroscopicMode(handle, 0)
            self.bodies.append(handle)
        self._place()
        for body, handle in zip(mechanism.bodies, self.bodies):
            parent = None if body.parent == WORLD else self.bodies[body.parent]
            kinds = [joint.kind for joint in body.joints]
            if kinds == ["free"]:
                continue
            if kinds == ["slide", "slide", "hinge"] and parent is None and all(abs(j.axis[1]) < 1e-9 for j in body.joints[:2]):
                joint = ctypes.c_void_p(_ode.dJointCreatePlane2D(self.world, None))
                _ode.dJointAttach(joint, handle, None)
            elif kinds == ["hinge"]:
                joint = ctypes.c_void_p(_ode.dJointCreateHinge(self.world, None))
                _ode.dJointAttach(joint, handle, parent)
                _ode.dJointSetHingeAnchor(joint, *_reals(*self.TURN @ body.joints[0].anchor))
                _ode.dJointSetHingeAxis(joint, *_reals(*self.TURN @ body.joints[0].axis))
            elif kinds == ["slide"]:
                joint = ctypes.c_void_p(_ode.dJointCreateSlider(self.world, None))
                _ode.dJointAttach(joint, handle, parent)
                _ode.dJointSetSliderAxis(joint, *_reals(*self.TURN @ body.joints[0].axis))
            else:
                raise ValueError(f"has no joint for {', '.join(kinds)}")
        # Velocities of bodies by those of joints, and back: in the kinetic metric, which matters only as far as joints give way.
        self.jacobian = mechanism.jacobians().reshape(-1, len(mechanism.velocity))
        weight = np.zeros((6 * len(mechanism.bodies),) * 2)
        for b, body in enumerate(mechanism.bodies):
            weight[6 * b : 6 * b + 3, 6 * b : 6 * b + 3] = body.mass * np.eye(3)
            weight[6 * b + 3 : 6 * b + 6, 6 * b + 3 : 6 * b + 6] = body.inertia
        self.project = np.linalg.solve(self.jacobian.T @ weight @ self.jacobian, self.jacobian.T @ weight)
        # Where two contacts reach a bound at once, which numbers of examples do, its LCP ends without a step ("s <= 0"): round-off of this
        # size, always the same, keeps them apart.
        twists = (self.jacobian @ mechanism.velocity).reshape(-1, 2, 3)
        twists[:, 0] += _ROUND_OFF * np.abs(twists[:, 0]).max() * np.random.default_rng(0).standard_normal((len(twists), 3))
        for handle, twist in zip(self.bodies, twists):
            _ode.dBodySetLinearVel(handle, *_reals(*self.TURN @ twist[0]))
            _ode.dBodySetAngularVel(handle, *_reals(*self.TURN @ twist[1]))
        self.contacts = []
        for contact in mechanism.contacts:
            one = _Contact()
            one.surface.mode = _FIRST_DIRECTION | (_APPROXIMATE_BY_PYRAMID if pyramid else 0) | (_BOUNCE if contact.restitution else 0)
            one.surface.mu = contact.friction
            # In the plane nothing moves along a second direction: a row for it would be singular.
            one.surface.mu2 = contact.friction if len(contact.tangents) == 2 else 0.0
            one.surface.bounce = contact.restitution
            one.geom.pos[:3] = self.TURN @ contact.point
            one.geom.normal[:3] = self.TURN @ contact.normal
            one.fdir1[:3] = self.TURN @ contact.tangents[0]
            self.contacts.append(one)

    def _place(self):
        for body, handle in zip(self.mechanism.bodies, self.bodies):
            _ode.dBodySetPosition(handle, *_reals(*self.TURN @ body.center))
            _ode.dBodySetQuaternion(handle, (_REAL * 4)(1, 0, 0, 0))

    def step(self):
        for contact, one in zip(self.mechanism.contacts, self.contacts):
            joint = ctypes.c_void_p(_ode.dJointCreateContact(self.world, self.group, ctypes.byref(one)))
            # The normal points into the first body of the joint.
            first = None if contact.first == WORLD else self.bodies[contact.first]
            _ode.dJointAttach(joint, self.bodies[contact.second], first)
        (_ode.dWorldQuickStep if self.quick else _ode.dWorldStep)(self.world, _REAL(self.dt))
        _ode.dJointGroupEmpty(self.group)
        self._place()

    def velocity(self):
        twists = []
        for handle in self.bodies:
            for vector in (_ode.dBodyGetLinearVel(handle), _ode.dBodyGetAngularVel(handle)):
                twists += list(self.TURN.T @ vector[:3])
        return self.project @ np.array(twists)
