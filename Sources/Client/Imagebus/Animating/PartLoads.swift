import ImageModel

/// Loads the images of an animation's frames, some at a time, and hands them over in order. No
/// more are held than are loaded at a time.
struct PartLoads {
    let client: ImagebusClient
    let parts: [AnimationPart]
    private var running: [LoadTask] = []
    private var begun = 0

    init(_ parts: [AnimationPart], _ client: ImagebusClient) {
        (self.parts, self.client) = (parts, client)
    }

    /// Hands over each image. Throws how a load failed, and what `body` throws; the loads that are
    /// left are cancelled then, and so they are with the awaiting task.
    mutating func forEach(
        _ body: (Int, ImageBytes) throws(ImageError) -> Void
    ) async throws(ImageError) {
        defer { for task in running { task.cancel() } }
        for index in parts.indices {
            let most = min(parts.count, index + AnimatedImage.loadsAtATime)
            while begun < most { try begin() }
            do throws(ImageError) {
                guard let bytes = try await running.removeFirst().response.bytes else {
                    throw .noFrameCached
                }
                try body(index, bytes)
            } catch {
                throw error.ofPart(index, of: parts.count)
            }
        }
    }

    private mutating func begin() throws(ImageError) {
        let part = parts[begun]
        do throws(ImageError) {
            let bytes = try part.read?()
            running.append(
                bytes.map { client.load(part.pixels, uploading: $0) } ?? client.load(part.pixels))
        } catch {
            throw error.ofPart(begun, of: parts.count)
        }
        begun += 1
    }
}

extension ImageError {
    /// The same, and which frame it is about.
    func ofPart(_ index: Int, of count: Int) -> ImageError {
        guard code != .cancelled else { return self }
        return ImageError(
            code, "frame \(index) of \(count), counted from 0: \(message)",
            details: details.merging(["frame": "\(index)"]) { detail, _ in detail })
    }
}
