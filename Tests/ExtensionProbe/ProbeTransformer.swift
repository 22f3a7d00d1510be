import ImagebusWorker

/// Steps: `probe.invert` subtracts each sample from 255, or from `by`; `probe.green` keeps only the
/// green sample.
struct ProbeTransformer: Transformer {
    let steps = ["probe.invert", "probe.green"]

    func bands(after step: CustomStep, of image: PixelForm) -> PixelForm.Bands {
        step.name == "probe.green" ? .gray : image.bands
    }

    func transform(
        _ samples: Span<UInt8>, of image: PixelForm, by step: CustomStep,
        into output: inout MutableSpan<UInt8>, _ cancellation: Cancellation
    ) throws {
        guard let most = UInt8(step.parameters["by"] ?? "255") else {
            throw InvalidInput("by is a number up to 255")
        }
        if step.name == "probe.green" {
            let bands = image.bands.rawValue
            for pixel in output.indices {
                output[pixel] = samples[pixel * bands + (bands < 3 ? 0 : 1)]
            }
        } else {
            for index in output.indices { output[index] = most &- samples[index] }
        }
    }
}
