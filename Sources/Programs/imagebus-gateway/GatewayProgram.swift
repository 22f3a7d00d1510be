import Bootstrap
import Imagebus
import Linux
import MicroHTTPD
import Observability
import WebFront

/// HTTP in, loads of a stack out.
enum GatewayProgram {
    static func run(_ words: [String]) -> Int32 {
        do {
            let arguments = try ProgramArguments(
                words, valued: Bootstrap.valued.union(GatewayOptions.valued),
                flags: GatewayOptions.flags)
            let options = try GatewayOptions(arguments)
            var bootstrap = try Bootstrap(program: "imagebus-gateway", arguments)
            return try serve(options, &bootstrap)
        } catch {
            Bootstrap.complain("imagebus-gateway", error)
            return ProgramExit.status(of: error)
        }
    }

    private static func serve(
        _ options: GatewayOptions, _ bootstrap: inout Bootstrap
    ) throws -> Int32 {
        let client = try ImagebusClient(
            ClientConfiguration(
                endpoint: options.front.uploads == nil
                    ? bootstrap.paths.webSocket : bootstrap.paths.frontSocket,
                resultsDirectory: bootstrap.paths.resultsDirectory))
        let log = bootstrap.log
        let front = try WebFront(options.front, client: client, log: log)
        let server = try listen(options, front)
        log.info(
            "listening",
            ["address": .string(options.address), "port": LogValue(server.port)])
        bootstrap.ready.tell(.ready, bootstrap.incarnation)
        var loop = WebFrontLoop(
            front, server, try SignalDescriptor([.terminate, .interrupt]))
        let isDone = try loop.run()
        log.info(
            "ended", ["answered": LogValue(front.answered), "abandoned": LogValue(front.abandoned)])
        return isDone ? ProgramExit.success : ProgramExit.internalError
    }

    private static func listen(
        _ options: GatewayOptions, _ front: WebFront
    ) throws(ConfigurationError) -> EventedHTTPServer {
        do throws(HTTPListenError) {
            return try EventedHTTPServer(
                address: options.address, port: options.port, limits: options.limits,
                handler: front)
        } catch {
            throw ConfigurationError(
                "cannot listen at \(options.address):\(options.port): \(error.text); --listen "
                    + "names another ADDRESS:PORT")
        }
    }
}
