// The tabs of a pair. A tab is one module with mount(root, context) and one row here.
//
// context: {pair: its id, path: its address below api/v1/, route: where we are, signal: aborted when the tab is left}

export const TABS = [
    {id: "lag", label: "Lag", load: () => import("./tab_lag.js")},
    {id: "calibration", label: "Calibration", load: () => import("./tab_calibration.js")},
    {id: "parameters", label: "Parameters", load: () => import("./tab_parameters.js")},
    {id: "dynamics", label: "Dynamics", load: () => import("./tab_dynamics.js")},
    {id: "following", label: "Following", load: () => import("./tab_following.js")},
    {id: "map", label: "Map", load: () => import("./tab_map.js")},
    {id: "machines", label: "Machines", load: () => import("./tab_machines.js")},
    {id: "alarms", label: "Alarms", load: () => import("./tab_alarms.js")},
];
