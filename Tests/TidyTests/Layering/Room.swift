/// A folder of `Sources` that contains modules. The order of the cases is not that of dependencies.
enum Layer: String, CaseIterable {
    case c = "C"
    case bindings = "Bindings"
    case core = "Core"
    case runtime = "Runtime"
    case stages = "Stages"
    case client = "Client"
    case kit = "Kit"
    case fronts = "Fronts"
    case programs = "Programs"
}

/// A target of `Sources`: its name, its layer, and the modules that the manifest lets it import.
struct Room: Equatable {
    let name: String
    let layer: Layer
    let dependencies: [String]
    let line: Int
}
