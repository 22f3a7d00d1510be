import Linux

let isQuick = CurrentProcess.arguments.contains("--quick")
for recipe in EvictionTable.recipes(isQuick) { EvictionTable.report(recipe) }
