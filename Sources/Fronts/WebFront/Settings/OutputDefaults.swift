package import ImageModel

/// How images are written where their URLs do not say it, whatever the grammar.
package struct OutputDefaults: Hashable, Sendable {
    /// The quality of formats that `qualities` does not name; `nil`: the stack's.
    package var quality: Int?
    /// The quality by format.
    package var qualities: [ImageFormat: Int] = [:]
    /// Formats that are written so that a rough image comes first.
    package var progressive: Set<ImageFormat> = []
    /// How much time encoders take, by format.
    package var efforts: [ImageFormat: Int] = [:]

    /// As the stack writes them.
    package init() {}

    /// Whether a format has more to be said than its quality.
    func isSaid(of format: ImageFormat) -> Bool {
        efforts[format] != nil || progressive.contains(format)
    }

    /// The qualities of formats, of which those of a URL count first.
    func qualities(besides said: [ImageFormat: Int]) -> [ImageFormat: Int] {
        qualities.merging(said) { $1 }
    }

    /// Completes an output whose format is known, or is that of the source. What the file name of a
    /// source ends with says only what is worth asking for: encoders leave out what their format
    /// does not have.
    func complete(_ output: inout OutputOptions, of url: String) {
        let format = output.format ?? Self.format(ofSource: url) ?? .jpeg
        if output.quality == nil { output.quality = quality }
        output.effort = efforts[format]
        output.isProgressive = progressive.contains(format)
    }

    /// The format that the path of a source ends with; `nil` where that is none.
    static func format(ofSource url: String) -> ImageFormat? {
        let path = url.prefix { $0 != "?" && $0 != "#" }
        guard let dot = path.lastIndex(of: "."), !path[dot...].contains("/") else { return nil }
        return ImageFormat(name: path[path.index(after: dot)...].lowercased())
    }
}
