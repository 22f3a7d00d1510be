import ImageModel
import Messages

/// What is asked of both lanes and of libvips.
struct Job: CustomStringConvertible {
    var steps: [TransformStep]
    var output: OutputOptions

    /// - Parameter format: PNG shows the geometry without the noise of coding.
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

    /// As the coordinator finds it.
    var need: DecodeNeed {
        var request = ImageRequest(url: "http://origin.test/a.jpg")
        request.steps = steps
        request.output = output
        return DecodeNeed(request)
    }
}
