/// The modules and dependencies in `Sources/modules.svg`: the titles of the nodes and edges written
/// by dot.
struct ModulePicture {
    /// Layers that are drawn; those below are left out.
    static let layers = Set(Layer.allCases).subtracting([.c, .bindings])

    private(set) var modules: Set<String> = []
    private(set) var arrows: [(from: String, to: String)] = []

    init(text: String) {
        var kind = ""
        for line in text.split(separator: "\n") {
            if line.hasPrefix("<g id=") { kind = String(line) }
            guard line.hasPrefix("<title>"), line.hasSuffix("</title>") else { continue }
            let title = line.dropFirst(7).dropLast(8)
                .replacing("&#45;", with: "-").replacing("&gt;", with: ">")
            let ends = title.split(separator: "->").map(String.init)
            if kind.contains("class=\"node\"") {
                modules.insert(String(title))
            } else if kind.contains("class=\"edge\""), ends.count == 2 {
                arrows.append((ends[0], ends[1]))
            }
        }
    }
}
