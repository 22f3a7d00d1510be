import Model

/// A request for both lanes and libvips.
struct Job: CustomStringConvertible {
    var steps: [TransformStep]
    var output: OutputOptions

    /// - Parameter format: PNG shows the geometry without coding noise.
    init(_ steps: [TransformStep], as format: ImageFormat = .jpeg) {
        self.steps = steps
        output = OutputOptions(format: format)
    }

    static func fit(_ side: Int, as format: ImageFormat = .jpeg) -> Job {
        Job([.resize(PixelSize(width: side, height: side), .fit)], as: format)
    }

    static func stretch(_ width: Int, _ height: Int, as format: ImageFormat = .jpeg) -> Job {
        Job([.resize(PixelSize(width: width, height: height), .stretch)], as: format)
    }

    var description: String { "\(steps) \(output.format?.name ?? "-")" }

    /// The decode need that the coordinator derives.
    var need: DecodeNeed {
        var request = ImageRequest(url: "http://origin.test/a.jpg")
        request.steps = steps
        request.output = output
        return DecodeNeed(request)
    }
}
