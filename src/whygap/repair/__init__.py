"""Repair: revise the model with the variables found, measure the gain, plan for labels."""

from whygap.repair.curve import check_revisable
from whygap.repair.labels import LabelPlan, plan_labels
from whygap.repair.model import RevisedModel, check_model_file, save_model
from whygap.repair.revise import contrast_rankings, revise, revise_design
from whygap.repair.revision import Contrast, Revision

__all__ = ["Contrast", "LabelPlan", "RevisedModel", "Revision", "check_model_file"]
__all__ += ["check_revisable", "contrast_rankings", "plan_labels", "revise", "revise_design"]
__all__ += ["save_model"]
