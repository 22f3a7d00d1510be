/// Images of a given size, and clients with a given delivery mode.
enum ChunkStack {
    /// An image of exactly `count` bytes, which differ by `seed`: the encoded image is followed by
    /// bytes that decoders ignore. Without steps the bytes are delivered unchanged.
    static func image(_ count: Int, seed: Int = 0) throws -> [UInt8] {
        let png = try Images.quadrants(width: 16, height: 16).png()
        precondition(png.count <= count, "an image has at least \(png.count) bytes")
        return [UInt8](unsafeUninitializedCapacity: count) { target, written in
            for index in 0..<count {
                target[index] =
                    index < png.count
                    ? png[index] : UInt8(truncatingIfNeeded: index &* 31 &+ index >> 8 &+ seed)
            }
            written = count
        }
    }
}

extension StackHarness {
    /// A client of this stack with this delivery mode; `results` replaces the results directory.
    func client(_ delivery: Delivery, results: String? = nil) throws -> ImagebusClient {
        try client {
            $0.delivery = delivery
            if let results { $0.resultsDirectory = results }
        }
    }

    /// A counter of the coordinator.
    func counter(_ name: String) async throws -> UInt64 {
        let report = try await awaitStatus("the counters") { _ in true }
        return try #require(report.counters.first { $0.name == name }?.value)
    }

    /// Kills the coordinator.
    func killCoordinator() async throws { try await coordinator().kill() }

    /// The current coordinator.
    func coordinator() async throws -> ObservedProcess {
        let report = try await awaitStatus("the coordinator") { _ in true }
        return try child(#require(report.processes(.coordinator).first))
    }
}

extension ImageRequest {
    /// A request for an upload.
    static var uploaded: ImageRequest { ImageRequest(url: "") }
}
