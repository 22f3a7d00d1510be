import Imagebus
import Linux
import Model
import ProcessRuntime
import WebFront
import WebGrammar

/// `imagebus url`: builds and explains targets according to a listener's settings, without
/// listening.
enum URLProgram {
    private static let valued: Set = ["operand", "accept"]
    private static let flags: Set = ["build", "sign", "explain", "json"]

    /// Runs with the arguments after `url`; returns the exit status.
    static func run(_ words: [String]) -> Int32 {
        do {
            let options = try GatewayOptions(words: words, besides: valued, flags: flags)
            let arguments = options.programArguments
            let operands = arguments.all("operand")
            if arguments.has("explain") { return explain(operands, options, arguments) }
            return try make(operands, options)
        } catch {
            ProgramOutput.complain("imagebus url: \(error)\n")
            return ProgramExit.usage
        }
    }

    private static func make(_ operands: [String], _ options: GatewayOptions) throws -> Int32 {
        let front = options.front
        let path =
            operands.count == 2
            ? front.grammar.path(options: operands[0], source: operands[1])
            : String(operands[0].drop { $0 == "/" })
        let target = try front.grammar.target(ofPath: path)
        // Report an invalid target now instead of when it is requested.
        _ = try front.grammar.read(Array(target.utf8), now: now)
        ProgramOutput.write("\(front.publicURL ?? "")\(front.pathPrefix)\(target)\n")
        return ProgramExit.success
    }

    // MARK: - Explaining

    /// The exit status for a target that would be refused.
    private static let refusedStatus: Int32 = 1

    private static func explain(
        _ operands: [String], _ options: GatewayOptions, _ arguments: ProgramArguments
    ) -> Int32 {
        let (accept, host) = (arguments.value("accept"), options.front.hosts.first)
        let head = IncomingRequest("GET", operands[0]) { name in
            switch name.lowercased() {
            case "accept": accept
            case "host": host
            default: nil
            }
        }
        let verdict = RequestReader(options.front).verdict(on: head, now: now)
        var explanation = TargetExplanation(verdict)
        if case .load(let plan) = verdict {
            explanation.cached = tier(of: plan.request.image, arguments.value("runtime-dir"))
        }
        ProgramOutput.write(arguments.has("json") ? explanation.json : explanation.text)
        return explanation.status ?? 0 >= 400 ? refusedStatus : ProgramExit.success
    }

    /// Returns the tier in which the stack of a runtime directory has the result; `nil` if no stack
    /// is running there.
    private static func tier(of image: ImageRequest, _ directory: String?) -> String? {
        guard let directory, let paths = try? RuntimePaths(resolving: directory),
            (try? FileDescriptor.status(path: paths.webSocket)) != nil
        else { return nil }
        var image = image
        image.options.insert(.fromCacheOnly)
        (image.originalQueryCacheTypes, image.storeCacheTypes) = (.none, .none)
        image.originalStoreCacheTypes = .none
        let configuration = ClientConfiguration(
            endpoint: paths.webSocket, resultsDirectory: paths.resultsDirectory,
            connectTimeoutMilliseconds: connectMilliseconds)
        do {
            let response = try ImagebusClient(configuration).load(image).waitForResponse()
            return response.status == .miss ? "no" : response.cacheType.name
        } catch {
            return nil
        }
    }

    private static let connectMilliseconds = 1_000

    // MARK: - Output

    private static var now: Int { Int(WallClock.seconds()) }
}
