# SPDX-License-Identifier: Apache-2.0
"""Simulators on frozen impacts, beside the sets of outcomes: see docs/simulators.md."""
