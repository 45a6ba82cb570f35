# SPDX-License-Identifier: Apache-2.0
"""Impacts of models in memory of simulators, which are imported when they are used."""
