// SPDX-License-Identifier: Apache-2.0
// evaluate.mjs CEL - evaluates a ValidatingAdmissionPolicy for requests, as an API server does.
// CEL: the folder of the npm package that knows the language. Standard input has {policy, requests},
// standard output a list: for each request the messages of the validations that are not met, or null
// if the policy is not about it.
import {readFileSync} from 'node:fs'

const {evaluate} = await import(`${process.argv[2]}/lib/index.js`)
const {policy, requests} = JSON.parse(readFileSync(0, 'utf-8'))

// Variables are made when they are first asked for, in the order in which they stand.
function withVariables(request) {
	const context = {...request, variables: {}}

	for (const {name, expression} of policy.spec.variables)
		context.variables[name] = evaluate(expression, context)
	return context
}

function judge(request) {
	if (!policy.spec.matchConditions.every(({expression}) => evaluate(expression, request)))
		return null
	const context = withVariables(request)
	return policy.spec.validations
		.filter(({expression}) => evaluate(expression, context) !== true)
		.map(({message}) => message)
}

console.log(JSON.stringify(requests.map(judge)))
