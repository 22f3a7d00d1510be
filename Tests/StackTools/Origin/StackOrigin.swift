import Linux
import TestKit

/// The origin of docker/test: images under any number of names, and one line per GET, so that a
/// test knows what was requested and when.
///
///     stack-origin 8000 large=/srv/images/large.jpg small=/srv/images/small.jpg
///
/// `/large/ANY` is the first image, `/small/ANY` the second. Listens on 127.0.0.1, and prints
/// `ready PORT`, then `GET path nanoseconds` (CLOCK_MONOTONIC) for each request. Exits on SIGTERM.
enum StackOrigin {
    static func run(_ words: [String]) -> Int32 {
        guard let port = words.first.flatMap({ UInt16($0) }), words.count > 1 else {
            printLine("usage: stack-origin PORT NAME=FILE…", to: 2)
            return 64
        }
        do throws(Errno) {
            try Signal.block([.terminate, .interrupt])
            let stop = try SignalDescriptor([.terminate, .interrupt])
            let origin = OriginServer(port: port)
            for word in words.dropFirst() where !serve(word, from: origin) {
                printLine("stack-origin: '\(word)' is not NAME=FILE, or cannot be read", to: 2)
                return 66
            }
            printLine("ready \(origin.port)")
            _ = try stop.descriptor.wait(for: .readable, milliseconds: nil)
            origin.stop()
            return 0
        } catch {
            printLine("stack-origin: \(error)", to: 2)
            return 70
        }
    }

    private static func serve(_ word: String, from origin: OriginServer) -> Bool {
        let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2, let bytes = FileBytes.read(parts[1]) else { return false }
        let image = OriginBehavior.bytes(bytes, contentType: "image/jpeg")
            .with(header: "Cache-Control", "max-age=3600")
            .with(header: "ETag", "\"\(parts[0])\"")
        origin.route("/\(parts[0])/*", image.logged())
        return true
    }

    static func printLine(_ line: String, to descriptor: Int32 = 1) {
        let bytes = Array("\(line)\n".utf8)
        // Errors are ignored: the reader has closed the pipe.
        bytes.withUnsafeBytes { _ = try? FileDescriptor.writeAll($0, to: descriptor) }
    }
}

extension OriginBehavior {
    /// The same behavior, with a line printed for each request before it is answered.
    fileprivate func logged() -> Self {
        observed { request in
            StackOrigin.printLine("\(request.method) \(request.path) \(MonotonicClock.now())")
        }
    }
}
