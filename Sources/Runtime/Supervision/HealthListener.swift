public import Linux
public import Messages

/// Where a supervisor says how its children are: a socket in the runtime directory. Whoever
/// connects gets one line and is let go.
///
/// The line is a JSON object with `ok` or a complaint for each kind, for example
/// `{"decode":"ok"}`. Belongs to the supervisor's thread.
public final class HealthListener {
    private let listener: UnixListener
    private let directory: FileDescriptor
    private let name: String

    private static let prefix = "serve-"
    private static let suffix = ".sock"
    /// Connections that are answered in one turn; the others come next.
    private static let answersMax = 16

    /// Listens in the runtime directory `root` for a supervisor of one kind, or of all; what
    /// supervisors left there that have ended is removed.
    public init(in root: String, only kind: ProcessKind?) throws(Errno) {
        directory = try FileDescriptor.openDirectory(root)
        name = Self.name(of: kind) + "\(CurrentProcess.processID)\(Self.suffix)"
        Self.removeUnserved(in: root)
        listener = try UnixListener(path: "\(root)/\(name)", mode: 0o600)
    }

    deinit { try? directory.unlink(name) }

    /// Readable when somebody asks.
    var number: Int32 { listener.descriptor.number }

    /// Answers those who ask. An answer is far smaller than what a socket takes at once.
    func answer(_ line: String) {
        for _ in 0..<Self.answersMax {
            guard let asking = (try? listener.accept()) ?? nil else { return }
            // Who has gone already does not want to know.
            _ = try? asking.send(Array(line.utf8))
        }
    }

    private static func name(of kind: ProcessKind?) -> String {
        "\(prefix)\(kind?.name ?? "all")-"
    }

    private static func removeUnserved(in root: String) {
        guard let directory = try? FileDescriptor.openDirectory(root),
            let entries = try? directory.entries()
        else { return }
        for entry in entries where entry.hasPrefix(prefix) && entry.hasSuffix(suffix) {
            do throws(Errno) {
                _ = try FileDescriptor.connect(toSocket: "\(root)/\(entry)")
            } catch .connectionRefused {
                try? directory.unlink(entry)
            } catch {
                // Somebody is there, or it is not ours to judge.
            }
        }
    }
}

extension HealthListener {
    private static let answerBytesMax = 4_096

    /// What the supervisors of a kind in a runtime directory answer, those of all kinds among
    /// them; nil for one that does not answer within `milliseconds`. Empty where there is none.
    public static func ask(
        in root: String, about kind: ProcessKind, milliseconds: Int
    ) throws(Errno) -> [[UInt8]?] {
        let directory = try FileDescriptor.openDirectory(root)
        var answers: [[UInt8]?] = []
        for entry in try directory.entries().sorted()
        where entry.hasSuffix(suffix)
            && (entry.hasPrefix(name(of: kind)) || entry.hasPrefix(name(of: nil)))
        {
            do throws(Errno) {
                let connection = try FileDescriptor.connect(toSocket: "\(root)/\(entry)")
                answers.append(try read(connection, milliseconds: milliseconds))
            } catch .connectionRefused {
                // Its supervisor has ended.
            } catch {
                answers.append(nil)
            }
        }
        return answers
    }

    private static func read(
        _ connection: borrowing FileDescriptor, milliseconds: Int
    ) throws(Errno) -> [UInt8]? {
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: answerBytesMax, alignment: 16)
        defer { buffer.deallocate() }
        guard try connection.wait(for: .readable, milliseconds: milliseconds) else { return nil }
        let count = try connection.read(into: buffer)
        return Array(buffer[..<count])
    }
}
