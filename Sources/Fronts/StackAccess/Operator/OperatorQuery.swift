import CommandLineInterface
package import ImageModel
package import Imagebus
import Linux
import SharedArena
import Supervision

/// Asks the coordinator of a stack something through `admin/`.
package enum OperatorQuery {
    /// Milliseconds for which a command waits for the answer.
    package static let answerMilliseconds = 5_000

    /// The answer to one question, or to several: the client stays until the last one has come.
    ///
    /// Throws `unavailable` where nobody answers within the time; work that takes longer than a
    /// look says how long that may be in `answerMilliseconds`, which begin again with each
    /// `activity`.
    package static func ask<Answer: Sendable>(
        _ options: OperatorOptions, milliseconds: Int = answerMilliseconds,
        answerMilliseconds: Int? = nil, activity: QueryActivity? = nil,
        _ question: @escaping @Sendable (ImagebusClient) async throws(ImageError) -> Answer
    ) throws(ImageError) -> Answer {
        let route = try options.route()
        let client = try route.client(asOperator: true, connectMilliseconds: milliseconds)
        defer { client.end() }
        let limit = answerMilliseconds ?? milliseconds
        if let value = try answer(of: client, within: limit, activity, question) { return value }
        throw ImageError(
            .unavailable,
            "the coordinator at \(route.paths.adminEndpoint) does not answer within \(limit) ms")
    }

    /// The answer to one question; nil where none comes within the time, counted from the last
    /// `activity`.
    package static func answer<Answer: Sendable>(
        of client: ImagebusClient, within milliseconds: Int, _ activity: QueryActivity? = nil,
        _ question: @escaping @Sendable (ImagebusClient) async throws(ImageError) -> Answer
    ) throws(ImageError) -> Answer? {
        let value: Result<Answer, ImageError>?
        do throws(Errno) {
            let completion = try Completion<Answer>()
            completion.start { () throws(ImageError) in try await question(client) }
            var left = milliseconds
            repeat {
                _ = try ReadinessPoll.wait([completion.number], milliseconds: left)
                left = milliseconds - (activity?.idleMilliseconds ?? milliseconds)
            } while completion.value == nil && left > 0
            value = completion.value
        } catch {
            throw ImageError(.internalError, "the wait for an answer failed (\(error))")
        }
        return try value?.get()
    }

    /// Runs a command: prints what it says, or why it cannot; returns the exit status.
    package static func run(_ command: String, _ body: () throws -> String) -> Int32 {
        do {
            return Terminal.finish(command, try body())
        } catch let error as OutputError {
            if !error.isUnread { Terminal.complain(command, error) }
            return error.exitStatus
        } catch let error as ImageError {
            Terminal.complain(command, of: error)
            return error.exitStatus
        } catch {
            Terminal.complain(command, "\(error)")
            return ImageError(.internalError, "").exitStatus
        }
    }
}
