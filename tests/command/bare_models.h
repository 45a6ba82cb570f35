// SPDX-License-Identifier: Apache-2.0
/// @file
/// Small models of the kinds that people download, each of which must give a set as it is.
#ifndef CAROM_TESTS_BARE_MODELS_H
#define CAROM_TESTS_BARE_MODELS_H

/// A file, the files that it needs, and a part of what is said about its state.
typedef struct bare_model {
    const char *name, *text;
    const char *other_name, *other_text;  ///< NULL: none
    const char *story;
} bare_model;

#define GROUND "<geom name='floor' type='plane' size='5 5 1'/>"
/// A trunk with four legs of a ball each; `trunk` and `leg` go into its free joint's body and into each leg's joint.
#define LEG(name, x, y, leg)                                                                                                               \
    "<body name='" name "' pos='" x " " y " 0'><joint name='" name "' axis='0 1 0' limited='true' range='-90 90' " leg "/>"                \
    "<geom type='capsule' fromto='0 0 0 0 0 -0.2' size='0.02'/><geom name='" name "_foot' size='0.03' pos='0 0 -0.2'/></body>"
#define DOG(trunk, leg)                                                                                                                    \
    "<body name='trunk' pos='0 0 0.5'><freejoint/><geom type='box' size='0.2 0.1 0.05'/>" trunk LEG("fl", "0.2", "0.1", leg)               \
        LEG("fr", "0.2", "-0.1", leg) LEG("hl", "-0.2", "0.1", leg) LEG("hr", "-0.2", "-0.1", leg) "</body>"
#define ARM(joint)                                                                                                                         \
    "<body name='base' pos='0 0 0.1'><geom type='cylinder' size='0.05 0.1'/><body name='upper' pos='0 0 0.1'>"                             \
    "<joint name='shoulder' axis='0 1 0' " joint "/><geom type='capsule' fromto='0 0 0 0.3 0 0.1' size='0.03'/>"                           \
    "<body name='fore' pos='0.3 0 0.1'><joint name='elbow' axis='0 1 0' " joint "/>"                                                       \
    "<geom name='hand' type='capsule' fromto='0 0 0 0.3 0 0' size='0.03'/></body></body></body>"

static const bare_model bare_models[] = {
    {"free_base.xml", "<mujoco><worldbody>" GROUND DOG("", "") "</worldbody></mujoco>",
     .story = "initial position, lowered by 0.27 m until it touches, with 1 m/s downwards"},
    {"many_joints.xml",
     "<mujoco><worldbody>" GROUND "<body pos='0 0 1'><freejoint/><geom size='0.1'/><body pos='0.3 0 0'><joint type='ball'/>"
     "<geom size='0.1'/><body pos='0.3 0 0'><joint axis='1 0 0'/><joint axis='0 1 0'/><joint axis='0 0 1'/><geom size='0.1'/>"
     "<body pos='0.3 0 0'><joint type='slide' axis='1 0 0'/><geom size='0.1'/></body></body></body></body></worldbody></mujoco>",
     .story = "lowered by 0.9 m"},
    {"damping.xml", "<mujoco><worldbody>" GROUND DOG("", "damping='3' stiffness='2'") "</worldbody></mujoco>", .story = "lowered"},
    {"frictionloss.xml", "<mujoco><worldbody>" GROUND DOG("", "frictionloss='0.2'") "</worldbody></mujoco>", .story = "lowered"},
    {"taut_string.xml",
     "<mujoco><worldbody>" GROUND "<site name='anchor' pos='0 0 2'/><body pos='0 0 1'><freejoint/><geom size='0.1'/>"
     "<site name='hook'/></body></worldbody><tendon><spatial name='rope' limited='true' range='0 1' frictionloss='1'>"
     "<site site='anchor'/><site site='hook'/></spatial></tendon></mujoco>",
     .story = "TENDON:rope"},
    {"armature.xml", "<mujoco><worldbody>" GROUND DOG("", "armature='0.1'") "</worldbody></mujoco>", .story = "lowered"},
    {"spatial_tendon.xml",
     "<mujoco><worldbody>" GROUND "<site name='anchor' pos='0 0 2'/><body pos='0 0 1'><freejoint/><geom size='0.1'/>"
     "<site name='hook'/></body></worldbody><tendon><spatial name='rope' limited='true' range='0 5' stiffness='1'><site site='anchor'/>"
     "<site site='hook'/></spatial></tendon></mujoco>",
     .story = "lowered by 0.9 m"},
    {"fixed_tendon.xml",
     "<mujoco><worldbody>" GROUND DOG("", "") "</worldbody><tendon><fixed name='pair'><joint joint='fl' coef='1'/>"
                                              "<joint joint='fr' coef='-1'/></fixed></tendon></mujoco>",
     .story = "lowered"},
    {"loop.xml",
     "<mujoco><worldbody>" GROUND DOG("", "") "</worldbody><equality><joint joint1='fl' joint2='hr'/><connect body1='fl' body2='trunk' "
                                              "anchor='0 0 -0.2' active='false'/></equality></mujoco>",
     .story = "lowered"},
    {"actuators.xml",
     "<mujoco><worldbody>" GROUND DOG("", "") "</worldbody><actuator><motor joint='fl'/><position joint='fr' kp='10'/>"
                                              "<velocity joint='hl' kv='1'/></actuator><sensor><jointpos joint='fl'/></sensor></mujoco>",
     .story = "lowered"},
    {"stops.xml", "<mujoco><worldbody>" GROUND DOG("", "ref='90'") "</worldbody></mujoco>", .story = "lowered"},
    {"mesh.xml",
     "<mujoco><asset><mesh name='rock' file='rock.obj'/></asset><worldbody>" GROUND
     "<body pos='0 0 2'><freejoint/><geom type='mesh' mesh='rock'/></body></worldbody></mujoco>",
     "rock.obj", "v 1 0 0\nv -1 0.8 0\nv -1 -0.8 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n", .story = "lowered"},
    {"classes.xml",
     "<mujoco><default><geom friction='0.4' rgba='1 0 0 1'/><default class='shin'><joint axis='0 1 0' damping='1'/>"
     "<geom type='capsule' size='0.03' condim='6'/></default></default><worldbody>" GROUND
     "<body pos='0 0 1' childclass='shin'><freejoint/><geom fromto='0 0 0 0 0 -0.3'/><body pos='0.2 0 0'><joint/>"
     "<geom fromto='0 0 0 0 0 -0.3'/></body></body></worldbody></mujoco>",
     .story = "lowered"},
    {"include.xml", "<mujoco><include file='dog.xml'/><worldbody>" GROUND "</worldbody></mujoco>", "dog.xml",
     "<mujocoinclude><worldbody>" DOG("", "") "</worldbody></mujocoinclude>", .story = "lowered"},
    {"keyframe.xml",
     "<mujoco><worldbody>" GROUND "<body pos='0 0 1'><freejoint/><geom size='0.1'/></body></worldbody><keyframe>"
     "<key name='strike' qpos='0 0 0.1 1 0 0 0' qvel='0.3 0 -0.7 0 0 0'/><key qpos='0 0 5 1 0 0 0'/></keyframe></mujoco>",
     .story = "the state is the model's first keyframe, 'strike'\n"},
    {"standing_keyframe.xml",
     "<mujoco><worldbody>" GROUND "<body pos='0 0 1'><freejoint/><geom size='0.1'/></body></worldbody><keyframe>"
     "<key name='stand' qpos='0 0 0.1 1 0 0 0'/></keyframe></mujoco>",
     .story = "first keyframe, 'stand', with 1 m/s downwards"},
    {"hovering_keyframe.xml",
     "<mujoco><worldbody>" GROUND "<body pos='0 0 1'><freejoint/><geom size='0.1'/></body></worldbody><keyframe>"
     "<key name='home' qpos='0 0 0.3 1 0 0 0'/></keyframe></mujoco>",
     .story = "first keyframe, 'home', lowered by 0.2 m until it touches, with 1 m/s downwards"},
    {"sunk.xml", "<mujoco><worldbody>" GROUND "<body pos='0 0 0.05'><freejoint/><geom size='0.1'/></body></worldbody></mujoco>",
     .story = "raised by 0.05 m until it touches"},
    {"planar_root.xml",
     "<mujoco><worldbody>" GROUND "<body pos='0 0 1'><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/>"
     "<joint axis='0 1 0'/><geom type='capsule' fromto='0 0 -0.2 0 0 0.2' size='0.05'/></body></worldbody></mujoco>",
     .story = "lowered by 0.75 m"},
    {"fixed_arm.xml", "<mujoco><worldbody>" GROUND ARM("") "</worldbody><contact><exclude body1='base' body2='upper'/></contact></mujoco>",
     .story = "where 'hand' and 'base', 0.2393 m apart, count as touching and approach at 1 m/s"},
    {"no_gravity.xml",
     "<mujoco><option gravity='0 0 0'/><worldbody><geom name='wall' type='plane' size='5 5 1' pos='-1 0 0' zaxis='1 0 0'/>"
     "<body pos='0 0 0'><freejoint/><geom name='satellite' size='0.1'/></body></worldbody></mujoco>",
     .story = "where 'wall' and 'satellite', 0.9 m apart, count as touching and approach at 1 m/s"},
    {"no_collisions.xml",
     "<mujoco><option><flag contact='disable'/></option><worldbody>" GROUND ARM(
         "") "</worldbody><contact><exclude body1='base' body2='upper'/></contact></mujoco>",
     .story = "(the model itself lets nothing collide)"},
    {"collision_bits.xml",
     "<mujoco><default><geom contype='0' conaffinity='0'/></default><worldbody>" GROUND
     "<body pos='0 0 1'><freejoint/><geom name='head' size='0.1'/></body></worldbody></mujoco>",
     .story = "'floor' and 'head', 0.9 m apart"},
    {"no_floor.xml", "<mujoco><worldbody>" DOG("", "") "</worldbody></mujoco>",
     .story = "a floor is added, as by `ground: true` in a scene"},
    {"free.urdf",
     "<robot name='ball'><link name='world'/><link name='ball'><inertial><mass value='1'/><inertia ixx='0.1' ixy='0' ixz='0' iyy='0.1' "
     "iyz='0' izz='0.1'/></inertial><collision><geometry><sphere radius='0.1'/></geometry></collision></link><joint name='root' "
     "type='floating'><parent link='world'/><child link='ball'/></joint></robot>",
     .story = "raised by 0.1 m until it touches, with 1 m/s downwards"},
    {"welded.urdf",
     "<?xml version='1.0'?><!-- an arm --><robot name='arm'><link name='world'/><joint name='bolts' type='fixed'><parent link='world'/>"
     "<child link='root'/></joint><link name='root'><collision><geometry><box size='0.2 0.2 0.2'/></geometry>"
     "</collision></link><link name='link'><inertial><origin xyz='0.3 0 0'/><mass value='1'/><inertia ixx='0.1' ixy='0' ixz='0' iyy='0.1' "
     "iyz='0' izz='0.1'/></inertial><collision><origin xyz='0.3 0 0.5'/><geometry><sphere radius='0.05'/></geometry></collision></link>"
     "<joint name='shoulder' type='continuous'><parent link='root'/><child link='link'/><axis xyz='0 1 0'/></joint></robot>",
     .story = "count as touching and approach at 1 m/s"},
    {"open.urdf",
     "<robot name='stick'><link name='root'><inertial><mass value='1'/><inertia ixx='0.1' ixy='0' ixz='0' iyy='0.1' iyz='0' izz='0.1'/>"
     "</inertial><collision><geometry><sphere radius='0.1'/></geometry></collision></link><link name='link'><inertial><origin "
     "xyz='0.3 0 0'/><mass value='1'/><inertia ixx='0.1' ixy='0' ixz='0' iyy='0.1' iyz='0' izz='0.1'/></inertial></link>"
     "<joint name='hinge' type='continuous'><parent link='root'/><child link='link'/><axis xyz='0 1 0'/></joint></robot>",
     .story = "the root link 'root' is joined to nothing and is free; "},
};

enum { BARE_MODELS = sizeof bare_models / sizeof *bare_models };

#endif
