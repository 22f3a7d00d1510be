import Glibc
import Imagebus

/// A service that makes thumbnails: reads URLs, writes a thumbnail of each into a directory,
/// several concurrently, and prints one line per result.
struct Thumbnailer {
    let client: ImagebusClient
    let settings: ThumbnailerSettings

    /// The number of concurrent loads. The stack works in parallel, so one client is enough.
    static let concurrency = 8

    /// Runs to completion. Returns 0 if every image was written.
    static func run(_ arguments: [String]) async -> Int32 {
        let settings = ThumbnailerSettings(arguments: arguments)
        do throws(ImageError) {
            let client = try ImagebusClient(settings.client())
            defer { client.close() }
            return await Thumbnailer(client: client, settings: settings).makeAll() ? 0 : 1
        } catch {
            print("thumbnailer: \(error)")
            return error.exitStatus
        }
    }

    /// Makes all thumbnails, starting the next as soon as one finishes. Returns whether all
    /// succeeded.
    private func makeAll() async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            var urls = settings.urls.makeIterator()
            for _ in 0..<Self.concurrency {
                if let url = urls.next() { group.addTask { await make(url) } }
            }
            var haveAllSucceeded = true
            while let hasSucceeded = await group.next() {
                haveAllSucceeded = haveAllSucceeded && hasSucceeded
                if let url = urls.next() { group.addTask { await make(url) } }
            }
            return haveAllSucceeded
        }
    }

    private func make(_ url: String) async -> Bool {
        do throws(ImageError) {
            let image = try await client.load(settings.request(for: url)).response
            guard let info = image.info, let bytes = image.bytes else {
                throw ImageError(.internalError, "a load without an error has an image")
            }
            let file = try ThumbnailFile.write(bytes, of: url, in: settings.directory)
            print("\(url) \(file) \(info.size) \(bytes.count) bytes, \(origin(of: image))")
            return true
        } catch {
            print("\(url) failed: \(error)")
            return false
        }
    }

    private func origin(of image: ImageResponse) -> String {
        switch image.cacheType {
        case .memory: "from memory"
        case .disk: "from disk"
        default: "made now"
        }
    }
}
