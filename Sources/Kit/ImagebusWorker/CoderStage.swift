import ImageModel
import Messages
import Observability
import StageContract

/// Does the jobs of a coder. One thread.
struct CoderStage<Author: Coder> {
    let coder: Author
    let log: Log

    /// The pixels that a job asks for, in a block of `output`.
    func perform(
        _ work: DecodeWork, input: UnsafeRawBufferPointer, output: some OutputSpace,
        cancellation: Cancellation
    ) throws(ImageError) -> DecodedImage {
        let data = input.bindMemory(to: UInt8.self).span
        guard coder.recognises(data) else {
            throw ImageError(.unsupportedFormat, "this coder does not know the image")
        }
        do {
            return try decode(work, data, output, cancellation)
        } catch {
            throw AuthorError(error).imageError(log) { sentence in
                ImageError(
                    .badImageData,
                    "the \(coder.format.name) image cannot be decoded: \(sentence)")
            }
        }
    }

    private func decode(
        _ work: DecodeWork, _ data: Span<UInt8>, _ output: some OutputSpace,
        _ cancellation: Cancellation
    ) throws -> DecodedImage {
        let header = try coder.header(of: data)
        let plan = FramePlan(
            header, try coder.animation(of: data, header), wantsAll: work.wantsAllFrames)
        let count = try plan.byteCount(within: work.limits)
        var image = DecodedImage(
            info: ImageInfo(
                format: coder.format, size: header.size, pages: plan.frames,
                hasAlpha: header.bands.hasAlpha),
            frames: [])
        // Nothing is known of what was asked for.
        if !work.facts.kinds.isEmpty { image.facts = ImageFacts() }
        guard work.need != .header else { return image }
        // A preview is one of the first frame.
        guard !work.isPartial || work.frame ?? 0 == 0 else { return image }
        let numbers = try plan.numbers(from: work.frame ?? 0)
        let block = try output.reserve(count)
        let isThere: Bool
        do {
            let place = block.blank(count)
            if work.isPartial {
                var pixels = place.mutableSpan
                isThere = try coder.arrived(of: data, header, into: &pixels, cancellation)
            } else {
                try make(plan, numbers, of: data, in: place, cancellation)
                isThere = true
            }
            try cancellation.check()
        } catch {
            output.discard(block)
            throw error
        }
        guard isThere else {
            output.discard(block)
            return image
        }
        image.frames = [
            DecodedImage.Frame(reference: block.reference(length: count), layout: plan.layout)
        ]
        return image
    }

    private func make(
        _ plan: FramePlan, _ numbers: Range<Int>, of data: Span<UInt8>,
        in place: UnsafeMutableBufferPointer<UInt8>, _ cancellation: Cancellation
    ) throws {
        guard plan.frames > 1 else {
            var pixels = place.mutableSpan
            return try coder.pixels(of: data, plan.form, into: &pixels, cancellation)
        }
        let size = place.count / numbers.count
        for (index, number) in numbers.enumerated() {
            try cancellation.check()
            let room = UnsafeMutableBufferPointer(
                rebasing: place[index * size..<(index + 1) * size])
            if plan.made.bands == plan.form.bands {
                var pixels = room.mutableSpan
                try coder.frame(number, of: data, plan.form, into: &pixels, cancellation)
            } else {
                var samples = [UInt8](repeating: 0, count: plan.form.byteCount ?? 0)
                var pixels = samples.mutableSpan
                try coder.frame(number, of: data, plan.form, into: &pixels, cancellation)
                plan.form.bands.spread(samples, into: room)
            }
        }
    }
}
