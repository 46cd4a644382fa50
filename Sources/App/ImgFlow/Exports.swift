// One import brings all that a program needs to write parts, build plans and follow runs.
@_exported public import FlowBase
@_exported public import FlowBuiltins
@_exported public import FlowEvents
@_exported public import FlowExpressions
@_exported public import FlowParts
@_exported public import FlowPlan
@_exported public import FlowPlugins
@_exported public import FlowRun
