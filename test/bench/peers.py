# Forecasts by public methods (pip install statsforecast). Reads {seasons, horizon, series} from stdin and writes the
# forecasts of each series by the name of the method.
import json
import sys
import warnings

import numpy as np
from statsforecast.models import MSTL, AutoCES, AutoETS, DynamicOptimizedTheta

warnings.filterwarnings("ignore")
asked = json.load(sys.stdin)
horizon, season = asked["horizon"], asked["seasons"][0]
methods = {
    "CES": AutoCES(season_length=season),
    "theta": DynamicOptimizedTheta(season_length=season),
    "ETS": AutoETS(season_length=season, model="AZA")
    if len(asked["seasons"]) == 1
    else MSTL(asked["seasons"], AutoETS(model="ZZN")),
}


def forecast(method, values):
    try:
        told = method.forecast(np.array(values, dtype=float), horizon)["mean"]
    except Exception:  # too few values, or all the same
        told = np.resize(values[-season:], horizon)
    return np.maximum(0, np.nan_to_num(told))


told = {name: [forecast(method, values) for values in asked["series"]] for name, method in methods.items()}
told["mean of these"] = [np.mean(each, axis=0) for each in zip(*told.values())]
json.dump({name: [each.tolist() for each in all] for name, all in told.items()}, sys.stdout)
