/// A group of modules with the same permitted dependencies. The order of the cases is not that of
/// dependencies.
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

    /// The layer of the Swift modules in a folder of `Sources`, or nil for any other folder. The
    /// C module of a binding is in the same folder as the binding.
    static func layer(ofFolder name: String) -> Layer? {
        switch name {
        case "System", "Codecs": .bindings
        case "C", "Bindings", "Core": nil
        default: Layer(rawValue: name)
        }
    }
}

/// A target of `Sources`: its name, its layer, its folder, and the modules that it may import
/// according to the manifest.
struct Room: Equatable {
    let name: String
    let layer: Layer
    /// The folder of its files, relative to the root of the repository.
    let path: String
    let dependencies: [String]
    let line: Int
}
