/// A folder of `Sources` that holds rooms. The order of the cases is no order of arrows.
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

/// One target of `Sources`: its name, the layer it is in, and what the manifest lets it import.
struct Room: Equatable {
    let name: String
    let layer: Layer
    let dependencies: [String]
    let line: Int
}
